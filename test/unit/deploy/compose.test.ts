import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { parse } from 'yaml';
import { readSettings } from '../../../src/platform/config/index.js';
import { isSetting, read, ROOT } from './files.js';

interface Service {
  image: string;
  command?: string[];
  environment?: Record<string, string | number>;
  secrets?: string[];
  volumes?: string[];
  ports?: string[];
  networks: string[];
}

interface Compose {
  services: Record<string, Service>;
  networks: Record<string, unknown>;
  volumes: Record<string, unknown>;
  secrets: Record<string, { file: string }>;
}

const FOLDER = 'deploy/compose';
const compose = parse(read(`${FOLDER}/compose.yaml`), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const named = (image: string) => services.filter(([, service]) => service.image.startsWith(image));
const instances = named('tidemark:');
const defaults = readSettings({});
const members = services.map(([name]) => name).filter((name) => /^mongodb-\d$/.test(name));

/** The volumes of all services: what is mounted, and where. */
const mounts = services.flatMap(([, { volumes = [] }]) =>
  volumes.map((volume) => {
    const [source = '', target = ''] = volume.split(':');
    return { source, target };
  }),
);
const files = mounts.filter(({ source }) => source.startsWith('.'));
/** The file of the repository that a container sees at a path. */
const mountedAt = (target: string) => {
  const mount = files.find((file) => file.target === target);
  return mount && normalize(join(FOLDER, mount.source));
};

/** What secrets.sh makes, run in an empty folder. */
function madeSecrets(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-secrets-'));
  cpSync(join(ROOT, FOLDER, 'secrets.sh'), join(folder, 'secrets.sh'));
  const make = () => execFileSync('sh', [join(folder, 'secrets.sh')]);
  const names = Object.keys(compose.secrets);
  const all = () =>
    Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, 'secrets', name), 'utf8')]));
  make();
  const made = all();
  make();
  expect(all()).toEqual(made);
  rmSync(folder, { recursive: true });
  return made;
}
const secrets = madeSecrets();

describe('compose.yaml', () => {
  it('has two instances, whose settings the service has, with values that it accepts', () => {
    expect(instances.map(([name]) => name)).toEqual(['tidemark-1', 'tidemark-2']);
    for (const [, { environment = {} }] of instances) {
      expect(Object.keys(environment).filter((name) => !isSetting(name))).toEqual([]);
      const { MONGODB_URI_FILE, ...others } = environment;
      const MONGODB_URI = secrets[String(MONGODB_URI_FILE).replace('/run/secrets/', '')];
      const texts = Object.entries(others).map(([name, value]) => [name, String(value)] as const);
      const settings = readSettings({
        NODE_ENV: 'production',
        MONGODB_URI,
        ...Object.fromEntries<string>(texts),
      });
      expect(settings).toMatchObject({ mongodbUri: MONGODB_URI, trustProxy: '1', port: defaults.port });
    }
  });

  it('mounts files of the repository, and names only volumes, networks and secrets that it has', () => {
    const missing = files.map(({ source }) => join(ROOT, FOLDER, source)).filter((path) => !existsSync(path));
    expect([files.length, missing]).toEqual([7, []]);
    const volumes = mounts.map(({ source }) => source).filter((source) => !source.startsWith('.'));
    expect(new Set(volumes)).toEqual(new Set(Object.keys(compose.volumes)));
    const networks = services.flatMap(([, service]) => service.networks);
    expect(new Set(networks)).toEqual(new Set(Object.keys(compose.networks)));
    const used = services.flatMap(([, service]) => service.secrets ?? []);
    expect(new Set(used)).toEqual(new Set(Object.keys(compose.secrets)));
  });

  it('gives each service the secrets that its environment names', () => {
    for (const [, { environment = {}, secrets: given = [] }] of services) {
      const asked = Object.values(environment).map(
        (value) => /^\/run\/secrets\/(.+)$/.exec(String(value))?.[1],
      );
      expect(asked.filter((name) => name !== undefined && !given.includes(name))).toEqual([]);
    }
  });

  it('publishes no port of the instances and of the database, and those of the tools on this machine only', () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`));
    expect(published).toEqual([
      ...['caddy 80:80', 'caddy 443:443', 'caddy 443:443/udp'],
      ...['prometheus 127.0.0.1:9090:9090', 'grafana 127.0.0.1:3001:3000'],
    ]);
  });
});

describe('the replica set', () => {
  const uri = new URL(secrets['mongodb_uri']!.replaceAll(',mongodb', '-mongodb'));

  it('has three members, which the setup and the connection string name', () => {
    expect(members).toHaveLength(3);
    const { environment } = compose.services['mongodb-setup']!;
    expect(environment!['MEMBERS']).toBe(members.map((name) => `${name}:27017`).join(','));
    expect(uri.hostname).toBe(members.join('-'));
  });

  it('has one name, and a key file', () => {
    for (const name of members) {
      const { command = [] } = compose.services[name]!;
      expect(command[command.indexOf('--replSet') + 1]).toBe(uri.searchParams.get('replicaSet'));
      expect(command).toContain('--keyFile');
    }
    expect(secrets['mongodb_key']).toMatch(/^[0-9a-f]{48}$/);
  });

  it('has a user of the database in which it is made, and passwords that differ', () => {
    expect(uri.searchParams.get('authSource')).toBe(uri.pathname.slice(1));
    expect(new Set([uri.password, ...Object.values(secrets)]).size).toBe(5);
  });
});

describe('what is in front of the instances, and what watches them', () => {
  const metricsPort = String(instances[0]![1].environment!['METRICS_PORT']);
  const all = (port: string | number) => instances.map(([name]) => `${name}:${port}`);

  it('Caddy asks all instances, and closes idle connections before they do', () => {
    const caddyfile = read(mountedAt('/etc/caddy/Caddyfile')!);
    expect(/reverse_proxy (.+) \{/.exec(caddyfile)?.[1]?.split(' ')).toEqual(all(defaults.port));
    expect(/health_port (\d+)/.exec(caddyfile)?.[1]).toBe(metricsPort);
    expect(Number(/keepalive (\d+)s/.exec(caddyfile)?.[1]) * 1000).toBeLessThan(defaults.keepAliveMs);
  });

  it('Prometheus asks all instances for metrics, and loads the alerts', () => {
    const config = parse(read(mountedAt('/etc/prometheus/prometheus.yml')!)) as {
      rule_files: string[];
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    expect(config.rule_files.map(mountedAt)).toEqual(['docs/alerts.yml']);
    expect(config.scrape_configs[0]!.static_configs[0]!.targets).toEqual(all(metricsPort));
  });

  it('Grafana asks Prometheus, and shows the dashboard', () => {
    const provisioned = '/etc/grafana/provisioning';
    const { datasources } = parse(read(`${mountedAt(`${provisioned}/datasources`)}/prometheus.yml`)) as {
      datasources: { url: string }[];
    };
    expect(Object.keys(compose.services)).toContain(new URL(datasources[0]!.url).hostname);
    const { providers } = parse(read(`${mountedAt(`${provisioned}/dashboards`)}/tidemark.yml`)) as {
      providers: { options: { path: string } }[];
    };
    const shown = files.filter(({ target }) => dirname(target) === providers[0]!.options.path);
    expect(shown.map(({ source }) => source)).toEqual(['../grafana/tidemark.json']);
  });
});
