/** What a bundler has to know of the modules of the service and of its packages; each function answers a plugin of Rolldown. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';

const PACKAGES = `${sep}node_modules${sep}`;

/** For modules in the folder `compiled` that are put into files of the folder `folder`. */
export function plugins({ compiled, folder }) {
  const mongoose = createRequire(join(compiled, 'main.js')).resolve('mongoose');
  return [
    ownModules(compiled, folder),
    mongooseNamespace(mongoose),
    driverOf(mongoose),
    mongoKiller(),
    packagePlaces(),
  ];
}

/** Their source maps lead on to `src/`, and a module that reads files beside it finds them from where it is put. */
function ownModules(compiled, folder) {
  return {
    name: 'own-modules',
    load(id) {
      if (!id.startsWith(compiled + sep) || !existsSync(`${id}.map`)) return undefined;
      const place = JSON.stringify(relative(folder, dirname(id)));
      const here = `import.meta.dirname + '/' + ${place}`;
      const code = readFileSync(id, 'utf8').replaceAll('import.meta.dirname', `(${here})`);
      return { code, map: readFileSync(`${id}.map`, 'utf8') };
    },
  };
}

/**
 * To Node the namespace of Mongoose is an object with the names of its exports. To a bundler it would be one of Mongoose's class
 * as well, and Mongoose takes such an object for an instance to work on.
 */
function mongooseNamespace(path) {
  const FACADE = '\0mongoose';
  const names = Object.keys(createRequire(path)(path)).filter((name) => /^[A-Za-z]\w*$/.test(name));
  const exported = names.filter((name) => name !== 'default');
  const isOfMongoose = (importer) => importer === FACADE || importer?.startsWith(dirname(path));
  return {
    name: 'mongoose-namespace',
    resolveId: (id, importer) => (id === 'mongoose' && !isOfMongoose(importer) ? FACADE : undefined),
    load(id) {
      if (id !== FACADE) return undefined;
      const from = `import it from ${JSON.stringify(path)};`;
      return `${from} export default it; export const { ${exported.join(', ')} } = it;`;
    },
  };
}

/** Modules of Mongoose's driver that are called for by their paths are the ones that Mongoose loads. */
function driverOf(mongoose) {
  const { resolve } = createRequire(mongoose);
  return {
    name: 'driver',
    transform(code, id) {
      if (id.includes(PACKAGES) || !code.includes("ofDriver('")) return undefined;
      const imports = [];
      const used = code.replace(/\bofDriver\('(.+)'\)/g, (_call, path) => {
        imports.push(`import * as driver${imports.length} from ${JSON.stringify(resolve(path))};`);
        return `driver${imports.length - 1}`;
      });
      return { code: `${used}\n${imports.join('\n')}`, map: null };
    },
  };
}

/** The process that ends a mongod after its service has died runs a file of its package, which is put beside the bundle. */
function mongoKiller() {
  const PLACE = "path.resolve(__dirname, '../../scripts/mongo_killer.js')";
  const COPY = 'mongo_killer.cjs';
  return {
    name: 'mongo-killer',
    transform(code, id) {
      if (!id.endsWith(join('mongodb-memory-server-core', 'lib', 'util', 'MongoInstance.js')))
        return undefined;
      if (!code.includes(PLACE)) throw new Error(`${id} starts its killer in another way.`);
      const source = readFileSync(join(dirname(id), '..', '..', 'scripts', 'mongo_killer.js'));
      this.emitFile({ type: 'asset', fileName: COPY, source });
      return { code: code.replace(PLACE, `require.resolve('./${COPY}')`), map: null };
    },
  };
}

/** A package that starts a file of its own, as a process or a thread, finds it where it is installed. */
function packagePlaces() {
  return {
    name: 'package-places',
    transform(code, id) {
      if (!id.includes(PACKAGES) || !/\b__dirname\b/.test(code)) return undefined;
      const [name, place] = placeOf(dirname(id));
      const manifest = `require.resolve(${JSON.stringify(`${name}/package.json`)})`;
      const here = `require('node:path').join(${manifest}, ${JSON.stringify(join('..', place))})`;
      return { code: code.replace(/\b__dirname\b/g, here), map: null };
    },
  };
}

/** The package of a folder, and where it is in that. */
function placeOf(folder) {
  const [name] = /^(?:@[^/\\]+[/\\])?[^/\\]+/.exec(folder.split(PACKAGES).at(-1));
  const root = folder.slice(0, folder.lastIndexOf(PACKAGES) + PACKAGES.length + name.length);
  return [name, relative(root, folder)];
}
