// Test run: end-to-end
/** The anchor check, bundled for a web page. */
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import t from 'tap'

const GZIP_LIMIT_BYTES = 8_000

t.test('the anchor check, bundled for browsers, imports nothing from Node and no Ethereum library', async (t) => {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export { createEasChecker } from '@claimcheck/plugin-anchor-eas/checker'`, resolveDir: '.' },
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    metafile: true,
    write: false,
  })
  const code = outputFiles[0]!.text
  t.notMatch(code, /["']node:/)
  t.notMatch(code, /\brequire\(/)
  const { inputs } = Object.values(metafile.outputs)[0]!
  const bundled = Object.keys(inputs).filter((input) => inputs[input]!.bytesInOutput > 0)
  const packages = bundled.flatMap((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? [])
  t.strictSame([...new Set(packages)], ['@noble/hashes'])
  const sizeBytes = gzipSync(code, { level: 9 }).length
  t.comment(`the anchor check is ${sizeBytes} bytes gzipped, ${code.length} plain`)
  t.ok(sizeBytes <= GZIP_LIMIT_BYTES)
})
