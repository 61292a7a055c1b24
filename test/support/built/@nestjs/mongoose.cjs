module.exports = globalThis.loadedByNode('@nestjs/mongoose');
