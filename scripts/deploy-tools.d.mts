type Name =
  | 'actionlint'
  | 'caddy'
  | 'check-jsonschema'
  | 'hadolint'
  | 'helm'
  | 'kubernetes-validate'
  | 'prometheus'
  | 'promtool'
  | 'reuse'
  | 'strace'
  | 'systemd-analyze';
export const programs: Record<Name, string>;
