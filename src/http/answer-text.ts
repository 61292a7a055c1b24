/** The JSON text of an answer. It ends with a line break, so that a shell's next prompt stands on a line of its own. */
export function answerText(value: unknown): string {
  return endedLine(JSON.stringify(value));
}

/** The same of a text that is JSON already. */
export function endedLine(json: string): string {
  return `${json}\n`;
}
