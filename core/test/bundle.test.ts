/** The checker, bundled for a web page. */
import { readFileSync } from 'node:fs'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import type { checkReceipt, checkTreeHead, parseKeySet } from '@claimcheck/core/checker'
import { build } from 'esbuild'
import t from 'tap'

const GZIP_LIMIT_BYTES = 32_000

async function bundle() {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export * from '@claimcheck/core/checker'`, resolveDir: 'core' },
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'claimcheck',
    target: 'es2022',
    metafile: true,
    write: false,
  })
  return { code: outputFiles[0]!.text, inputs: Object.keys(metafile.inputs) }
}

t.test('the checker, bundled for browsers, imports nothing from Node and is at most 32 kB gzipped', async (t) => {
  const { code, inputs } = await bundle()
  t.notMatch(code, /["']node:/)
  t.notMatch(code, /\brequire\(/)
  t.notOk(inputs.some((input) => input.includes('typebox')))
  const sizeBytes = gzipSync(code, { level: 9 }).length
  t.comment(`the checker is ${sizeBytes} bytes gzipped, ${code.length} plain`)
  t.ok(sizeBytes <= GZIP_LIMIT_BYTES)
})

t.test('the bundle needs only the language itself and TextEncoder', async (t) => {
  const { code } = await bundle()
  const context = createContext({ TextEncoder })
  runInContext(`${code}; globalThis.claimcheck = claimcheck`, context)
  const checker = context.claimcheck as {
    checkReceipt: typeof checkReceipt
    checkTreeHead: typeof checkTreeHead
    parseKeySet: typeof parseKeySet
  }
  const keys = checker.parseKeySet(read('keys.json'))
  const good = await checker.checkReceipt(read('valid-included-middle-leaf.json'), { keys })
  t.match(good, { valid: true, verdict: 'verified', achieved_trust_level: 1, checks: { inclusion: true } })
  const bad = await checker.checkReceipt(read('refused-signature-tampered.json'), { keys })
  t.match(bad, { valid: false, checks: { signature: false } })
  t.equal(checker.checkTreeHead(read('tree-head-valid-first.json'), keys).valid, true)
})

function read(file: string): string {
  return readFileSync(`test/vectors/${file}`, 'utf8')
}
