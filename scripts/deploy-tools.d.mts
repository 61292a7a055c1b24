export const programs: Record<
  'check-jsonschema' | 'hadolint' | 'kubernetes-validate' | 'reuse' | 'helm' | 'systemd-analyze',
  string
>;
