/** Loads oidc-provider on first use, because it is large, and makes it work on Node 20, which it does not officially support. */
import { parseUrl } from '@claimcheck/core/plugin'

export type Library = typeof import('oidc-provider')

let loading: Promise<Library> | undefined

export function loadLibrary(): Promise<Library> {
  loading ??= load()
  return loading
}

async function load(): Promise<Library> {
  addUrlParse()
  const { warn } = console
  // This suppresses the library's warning about Node 20, on which the tests run. The function above adds what the library misses there.
  console.warn = (...words: unknown[]) => {
    if (!String(words[0]).includes('Unsupported runtime')) warn(...words)
  }
  try {
    return await import('oidc-provider')
  } finally {
    console.warn = warn
  }
}

/** Adds `URL.parse` of the URL Standard, which Node has since version 22. */
function addUrlParse(): void {
  if (typeof URL.parse === 'function') return
  Object.defineProperty(URL, 'parse', {
    configurable: true,
    enumerable: true,
    writable: true,
    value: (text: string, base?: string) => parseUrl(text, base) ?? null,
  })
}
