/** Progress goes to stderr: the table alone is on stdout. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}
