type Name =
  | 'actionlint'
  | 'caddy'
  | 'check-jsonschema'
  | 'hadolint'
  | 'haproxy'
  | 'helm'
  | 'kubernetes-validate'
  | 'mongosh'
  | 'nginx'
  | 'prometheus'
  | 'promtool'
  | 'reuse'
  | 'strace'
  | 'systemd-analyze';
export const programs: Record<Name, string>;
export function libraryFolder(): string | undefined;
