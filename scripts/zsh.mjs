/** Finds a zsh for the tests of its completion, and installs Debian's package where there is none and that can be done. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installPackage } from './apt.mjs';

/** Whether a zsh is found by its name. */
export function hasZsh() {
  const directories = (process.env.PATH ?? '').split(delimiter);
  return directories.some((directory) => existsSync(join(directory, 'zsh')));
}

/** Says so where there is none in the end. */
export async function installZsh() {
  if (await installPackage('zsh', hasZsh)) return;
  console.log(
    '\nThe completion for zsh CANNOT BE TESTED HERE: there is no zsh, and it cannot be installed. Install the package zsh.',
  );
}
