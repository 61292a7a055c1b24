import { relative, sep } from 'node:path';

/** What a contract test imports of a `src/` is what Node has loaded from the `dist/` beside it (see environment.mjs). */
export default {
  process(_text, path, { config }) {
    const source = relative(config.rootDir, path).split(sep).join('/');
    const built = source.replace(/(^|\/)src\//, '$1dist/').replace(/\.ts$/, '.js');
    return { code: `module.exports = globalThis.loadedByNode('../../../${built}');` };
  },
};
