/** The bill of materials of what is released, in CycloneDX: of all that `npm sbom` lists, what the archives hold or need. */

const DEVELOPMENT = 'cdx:npm:package:development';

/** Keeps the packages that bundles hold, given as `NAME@VERSION`, and those that an installation adds. */
export function billOf(everything, bundled, { version, needed }) {
  const references = new Set([...bundled, ...closure(everything.dependencies, needed)]);
  const components = everything.components.filter((one) => references.has(one['bom-ref']));
  const found = new Set(components.map((one) => one['bom-ref']));
  const lost = [...references].filter((one) => !found.has(one));
  if (lost.length > 0) throw new Error(`npm sbom does not list ${lost.join(', ')}.`);
  const root = `tidemark@${version}`;
  const edges = everything.dependencies
    .filter(({ ref }) => references.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => references.has(one)) }));
  const { component, ...metadata } = everything.metadata;
  return {
    ...everything,
    metadata: {
      ...metadata,
      lifecycles: [{ phase: 'build' }],
      component: { ...component, name: 'tidemark', type: 'application' },
    },
    components: components.map(shipped),
    dependencies: [{ ref: root, dependsOn: [...references].sort() }, ...edges],
  };
}

/** The packages that some packages need, and these. */
function closure(dependencies, first) {
  const byName = new Map(dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
  const found = new Set(first);
  for (const one of found) for (const next of byName.get(one) ?? []) found.add(next);
  return found;
}

/** To this repository it is a package for development; its archive holds it. */
function shipped({ scope: _scope, properties = [], ...component }) {
  const kept = properties.filter(({ name }) => name !== DEVELOPMENT);
  return { ...component, scope: 'required', ...(kept.length > 0 && { properties: kept }) };
}
