/** Reads URLs, without `URL.canParse`: once it is compiled, that of Node 20 refuses hosts with characters such as an `ü`. */

/** Parses a URL; undefined for any other text. */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
