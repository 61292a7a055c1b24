type Name =
  | 'caddy'
  | 'check-jsonschema'
  | 'hadolint'
  | 'helm'
  | 'kubernetes-validate'
  | 'prometheus'
  | 'promtool'
  | 'reuse'
  | 'systemd-analyze';
export const programs: Record<Name, string>;
