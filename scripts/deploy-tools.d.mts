type Name =
  | 'actionlint'
  | 'caddy'
  | 'check-jsonschema'
  | 'hadolint'
  | 'helm'
  | 'kubernetes-validate'
  | 'mongosh'
  | 'prometheus'
  | 'promtool'
  | 'reuse'
  | 'strace'
  | 'systemd-analyze';
export const programs: Record<Name, string>;
