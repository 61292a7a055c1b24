/** A package that Node itself has loaded, once for each worker, instead of Jest for each file (see environment.mjs). */
export default {
  process: (_text, path) => ({ code: `module.exports = globalThis.loadedByNode(${JSON.stringify(path)});` }),
};
