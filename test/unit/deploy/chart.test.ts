import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, isMap, parse, parseDocument } from 'yaml';
import { isSetting, read, ROOT } from './files.js';

const CHART = 'deploy/helm/tidemark';
const valuesText = read(`${CHART}/values.yaml`);
const values = parse(valuesText) as Record<string, unknown>;
const templates = readdirSync(join(ROOT, CHART, 'templates')).map((name) =>
  read(`${CHART}/templates/${name}`),
);
const deployment = read(`${CHART}/templates/deployment.yaml`);

/** The paths of all values; an empty object or a list is one value. Not what is within the resources of Kubernetes. */
function pathsOf(value: unknown, path: string[] = []): string[] {
  const isOpen =
    typeof value !== 'object' || value === null || Array.isArray(value) || path[0] === 'resources';
  const entries = isOpen ? [] : Object.entries(value);
  return entries.length === 0
    ? [path.join('.')]
    : entries.flatMap(([key, one]) => pathsOf(one, [...path, key]));
}
const paths = pathsOf(values);

/** The comment above each value. */
function commentsOf(document: Document): Map<string, string> {
  const comments = new Map<string, string>();
  const visit = (node: unknown, path: string[], inherited = '') => {
    if (!isMap(node)) return;
    node.items.forEach(({ key, value }, index) => {
      const own = (key as { commentBefore?: string }).commentBefore ?? '';
      const comment = own || (index === 0 ? (node.commentBefore ?? inherited) : '');
      const here = [...path, String(key)];
      comments.set(here.join('.'), comment.trim());
      visit(value, here, '');
    });
  };
  visit(document.contents, [], document.commentBefore ?? '');
  return comments;
}

describe('values.yaml', () => {
  it('says of each value what it is for', () => {
    const comments = commentsOf(parseDocument(valuesText));
    expect(paths.length).toBeGreaterThan(40);
    expect(paths.filter((path) => !/^-- [A-Z].*\.$/s.test(comments.get(path) ?? ''))).toEqual([]);
  });

  it('has every value that a template uses, and no other', () => {
    const used = templates.flatMap((text) =>
      [...text.matchAll(/\.Values\.([\w.]+\w)/g)].map(([, path]) => path!),
    );
    expect(used.filter((path) => !paths.includes(path))).toEqual([]);
    expect(paths.filter((path) => !used.includes(path))).toEqual([]);
  });

  it('is what values.schema.json describes, which refuses any other', () => {
    interface Schema {
      properties?: Record<string, Schema>;
      additionalProperties?: unknown;
    }
    const described = ({ properties }: Schema, path: string[] = []): string[] =>
      Object.entries(properties ?? {}).flatMap(([key, schema]) =>
        schema.properties === undefined ? [[...path, key].join('.')] : described(schema, [...path, key]),
      );
    const schema = JSON.parse(read(`${CHART}/values.schema.json`)) as Schema;
    expect(described(schema).filter((path) => path !== 'global')).toEqual(paths);
    expect(schema.additionalProperties).toBe(false);
  });
});

describe('the pods', () => {
  it('have only settings that the service has, those of the values too', () => {
    const set = [...deployment.matchAll(/- name: ([A-Z_]+)$/gm)].map(([, name]) => name!);
    expect(set).toEqual(expect.arrayContaining(['MONGODB_URI_FILE', 'METRICS_PORT']));
    const shown = valuesText.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [];
    const all = [...set, ...shown, ...Object.keys(values['settings'] as object)];
    expect(all.filter((name) => !isSetting(name))).toEqual([]);
  });

  it('get no setting of the values that the chart sets itself: the last of two with one name would count', () => {
    const set = [...deployment.matchAll(/- name: ([A-Z_]+)$/gm)].map(([, name]) => name!);
    const schema = JSON.parse(read(`${CHART}/values.schema.json`)) as {
      properties: { settings: { propertyNames?: { not: { enum: string[] } } } };
    };
    expect(schema.properties.settings.propertyNames?.not.enum).toEqual(['MONGODB_URI', ...set]);
  });

  it('listen where the Service sends, and answer probes where health is served', () => {
    const container = /- name: http\n +containerPort: (\d+)/.exec(deployment)?.[1];
    expect(/- name: PORT\n +value: "(\d+)"/.exec(deployment)?.[1]).toBe(container);
    const probes = [...deployment.matchAll(/httpGet:\n +path: (\S+)\n +port: (\S+)/g)];
    expect(probes.map(([, path, port]) => `${path} ${port}`)).toEqual([
      ...['/health/live metrics', '/health/live metrics', '/health/ready metrics'],
    ]);
  });

  it('run as the user of the image, who is not root', () => {
    const user = /^USER (\d+):(\d+)$/m.exec(read('Dockerfile'));
    expect(/runAsUser: (\d+)\n +runAsGroup: (\d+)/.exec(deployment)?.slice(1)).toEqual(user?.slice(1));
  });
});

it('the chart installs the version of the service', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(parse(read(`${CHART}/Chart.yaml`))).toMatchObject({ appVersion: version });
});
