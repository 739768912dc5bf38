/** Strings of just-bash that hold bytes: each character is one. */
const piece = 8192;

export function latin1(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; start += piece) {
    parts.push(String.fromCharCode(...bytes.subarray(start, start + piece)));
  }
  return parts.join("");
}

/** The bytes of such a string; of text with characters that are no bytes, its UTF-8. */
export function bytesOfLatin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0xff) return new TextEncoder().encode(text);
    bytes[index] = code;
  }
  return bytes;
}

export function bytesOfText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
