/** Compiles single files of a copy as the build does, types and all, in a fraction of its time. */
import { join } from 'node:path';
import ts from 'typescript';

/** The compiler's projects, by the files that are theirs. */
const PROJECTS = [
  [/^src\/(?!replication\/transcode\/assembly\/).*\.ts$/, 'tsconfig.build.json'],
  [/^client\/src\/.*\.ts$/, 'client/tsconfig.json'],
  [/^conformance\/src\/.*\.ts$/, 'conformance/tsconfig.json'],
  [/^console\/src\/.*\.tsx?$/, 'console/tsconfig.json'],
];

export class Compiler {
  #copy;
  #projects = new Map();

  constructor(copy) {
    this.#copy = copy;
  }

  /** Whether the compiler has anything to do with a file. */
  knows(file) {
    return configOf(file) !== undefined;
  }

  /** What comes of a file with another text than it has: JavaScript, or what the compiler has against it. */
  compile(file, text) {
    const { service, changed } = this.#projectOf(file);
    const path = join(this.#copy, file);
    changed.set(path, text);
    try {
      const [first] = [...service.getSyntacticDiagnostics(path), ...service.getSemanticDiagnostics(path)];
      if (first !== undefined) return { error: ts.flattenDiagnosticMessageText(first.messageText, ' ') };
      const emitted = service.getEmitOutput(path).outputFiles.find(({ name }) => name.endsWith('.js'));
      return { javascript: emitted?.text };
    } finally {
      changed.delete(path);
    }
  }

  #projectOf(file) {
    const config = configOf(file);
    const known = this.#projects.get(config);
    if (known !== undefined) return known;
    const changed = new Map();
    const service = ts.createLanguageService(hostOf(join(this.#copy, config), changed));
    this.#projects.set(config, { service, changed });
    return { service, changed };
  }
}

function configOf(file) {
  return PROJECTS.find(([pattern]) => pattern.test(file))?.[1];
}

function hostOf(config, changed) {
  const read = { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} };
  const { options, fileNames } = ts.getParsedCommandLineOfConfigFile(config, { noEmit: false }, read);
  return {
    getScriptFileNames: () => fileNames,
    getScriptVersion: (path) => changed.get(path) ?? '',
    getScriptSnapshot: (path) => {
      const text = changed.get(path) ?? ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: ts.sys.getCurrentDirectory,
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
  };
}
