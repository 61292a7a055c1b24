/** A whole number with its thousands apart. */
export function count(number: number): string {
  return number.toLocaleString('en');
}
