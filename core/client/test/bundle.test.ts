/** The client, bundled for a web page. */
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import type { createClient } from '@claimcheck/client'
import { build } from 'esbuild'
import t from 'tap'

const GZIP_LIMIT_BYTES = 37_000

t.test('bundled for browsers it imports nothing from Node, runs there, and has at most 37 kB gzipped', async (t) => {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export * from '@claimcheck/client'`, resolveDir: 'core/client' },
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'claimcheck',
    target: 'es2022',
    metafile: true,
    write: false,
  })
  const code = outputFiles[0]!.text
  t.notMatch(code, /["']node:/)
  t.notMatch(code, /\brequire\(/)
  t.notOk(Object.keys(metafile.inputs).some((input) => /typebox\.js/.test(input) && bytesOf(metafile, input) > 0))
  const sizeBytes = gzipSync(code, { level: 9 }).length
  t.comment(`the client is ${sizeBytes} bytes gzipped, with the checker`)
  t.ok(sizeBytes <= GZIP_LIMIT_BYTES, `${sizeBytes} bytes`)

  const asked: string[] = []
  // A browser's fetch works only as one of the window, or by itself.
  function fetch(this: unknown, url: string): Promise<Response> {
    asked.push(url)
    if (this !== undefined && this !== context) throw new TypeError('Illegal invocation')
    return Promise.resolve(new Response('{"kind":"key","workspace_id":"ws_1"}'))
  }
  const { AbortController, clearTimeout, crypto, performance, setTimeout } = globalThis
  const { TextDecoder, TextEncoder, URL, URLSearchParams } = globalThis
  const context = createContext({
    ...{ AbortController, clearTimeout, crypto, fetch, performance, setTimeout },
    ...{ TextDecoder, TextEncoder, URL, URLSearchParams },
  })
  runInContext(`${code}; globalThis.claimcheck = claimcheck`, context)
  const library = context.claimcheck as { createClient: typeof createClient }
  const client = library.createClient({ baseUrl: 'https://claimcheck.example', key: 'svc_sk_x' })
  t.equal((await client.whoami()).kind, 'key')
  t.strictSame(asked, ['https://claimcheck.example/v1/whoami'])
})

function bytesOf(
  metafile: { outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> },
  input: string,
) {
  return Math.max(...Object.values(metafile.outputs).map(({ inputs }) => inputs[input]?.bytesInOutput ?? 0))
}
