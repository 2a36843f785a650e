/** Loads oidc-provider, once it is needed: it is large, and wants a newer runtime than the one that we promise to work with. */

export type Library = typeof import('oidc-provider')

let loading: Promise<Library> | undefined

export function loadLibrary(): Promise<Library> {
  loading ??= load()
  return loading
}

async function load(): Promise<Library> {
  addUrlParse()
  const { warn } = console
  // It says so on standard error of each start with Node 20. What it misses there is added above, and our tests run with it.
  console.warn = (...words: unknown[]) => {
    if (!String(words[0]).includes('Unsupported runtime')) warn(...words)
  }
  try {
    return await import('oidc-provider')
  } finally {
    console.warn = warn
  }
}

/** `URL.parse` of the URL Standard, which Node has from version 22 on. */
function addUrlParse(): void {
  if (typeof URL.parse === 'function') return
  Object.defineProperty(URL, 'parse', {
    configurable: true,
    enumerable: true,
    writable: true,
    value: (text: string, base?: string) => (URL.canParse(text, base) ? new URL(text, base) : null),
  })
}
