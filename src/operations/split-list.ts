/** `kernel,stack`: words of a list, which may stand with commas between them as well as with spaces. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map(word => word.trim())
    .filter(word => word !== '')
}
