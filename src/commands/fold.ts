/** As typed words are compared: case, accents and the dots of Devanagari that keyboards leave out do not count. */
export function folded(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFD")
    .replace(/[\u0300-\u036f\u093c]/g, "")
    .normalize("NFC");
}
