import { relative, sep } from 'node:path';

/** What a contract test imports of `src/` is what Node has loaded from `dist/` (see environment.mjs). */
export default {
  process(_text, path, { config }) {
    const name = relative(config.rootDir, path).split(sep).slice(1).join('/').replace(/\.ts$/, '.js');
    return { code: `module.exports = globalThis.loadedByNode('../../../dist/${name}');` };
  },
};
