module.exports = globalThis.loadedByNode('mongoose');
