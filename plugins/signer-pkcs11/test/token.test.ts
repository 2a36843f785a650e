// Test run: end-to-end, alone
/** Keys in a PKCS#11 token: SoftHSM's, through its real module. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Plugin } from '@claimcheck/core/plugin'
import { DOMAINS, signedMessage, verifyEd25519 } from '@claimcheck/core/receipts'
import plugin from '@claimcheck/plugin-signer-pkcs11'
import t, { type Test } from 'tap'
import { createToken, type SoftToken, WITHOUT_TOKENS } from './soft-token.ts'

const only = { skip: WITHOUT_TOKENS }
/** A token that was away is tried again after a second. */
const RETRY_MS = 1100

function token(t: Test): SoftToken {
  const made = createToken()
  t.teardown(() => made.remove())
  return made
}

async function setUp(t: Test, options: object, { setup }: Pick<Plugin, 'setup'> = plugin as unknown as Plugin) {
  const lines: string[] = []
  const log = (fields: object, message: string) => lines.push(`${message} ${JSON.stringify(fields)}`)
  const host = { logger: { info: log, warn: log } }
  const { signingBackend, close } = await setup(host, options as never)
  t.teardown(() => close!())
  return { backend: signingBackend!, close: close!, lines }
}

/** The files that ship, in a folder where nothing is installed but core and what a test puts in as `pkcs11js`. */
async function installedWith(t: Test, pkcs11js?: string): Promise<Plugin> {
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-signer-pkcs11-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  cpSync('plugins/signer-pkcs11/dist', folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  mkdirSync(join(folder, 'node_modules/@claimcheck'), { recursive: true })
  symlinkSync(resolve('core'), join(folder, 'node_modules/@claimcheck/core'))
  if (pkcs11js !== undefined) {
    mkdirSync(join(folder, 'node_modules/pkcs11js'))
    writeFileSync(join(folder, 'node_modules/pkcs11js/index.js'), pkcs11js)
  }
  const copy: { default: Plugin } = await import(join(folder, 'index.js'))
  return copy.default
}

t.test('a token makes keys, and signs with them what the checker accepts', only, async (t) => {
  const { options } = token(t)
  const { backend } = await setUp(t, options)
  t.equal(backend.name, 'the token claimcheck')
  t.strictSame(await backend.keys(), [])
  const { keyId, publicKey } = await backend.generate()
  const other = await backend.generate()
  const message = signedMessage(DOMAINS.receipt, Buffer.from(`{"some":"${'x'.repeat(2000)}"}`))
  const signatures = await Promise.all(Array.from({ length: 50 }, () => backend.sign(keyId, message)))
  for (const signature of signatures) t.ok(verifyEd25519(signature, message, publicKey))
  t.notOk(verifyEd25519(signatures[0]!, message, other.publicKey))
  const { backend: another } = await setUp(t, options)
  const listed = (await another.keys()).map((key) => key.keyId)
  t.strictSame(listed.sort(), [keyId, other.keyId].sort(), 'also for another process')
  const labelled = await setUp(t, { ...options, label: 'other' })
  t.strictSame(await labelled.backend.keys(), [], 'each log has its own label')
  await t.rejects(backend.sign('ed25519:none', message), { message: /^the token claimcheck does not sign: .*no key/ })
})

const wrongOptions: [what: string, over: object, message: RegExp][] = [
  ['a module that is not there', { module: '/nowhere.so' }, /module does not load, correct .*nowhere\.so/],
  ['a module that is no library', { module: resolve('package.json') }, /module does not load, .*package\.json/],
  ['another token', { token: 'another' }, /^the token another does not sign: .* no token another, but claimcheck$/],
]

for (const [what, over, message] of wrongOptions) {
  t.test(`${what} is reported`, only, async (t) => {
    const { backend, lines } = await setUp(t, { ...token(t).options, ...over })
    await t.rejects(backend.keys(), { message })
    t.match(lines, [/^the token does not sign: claims wait/])
    t.notMatch(lines.join(), /secret-pin/)
  })
}

t.test('a PIN that is refused is tried once, and never shown', only, async (t) => {
  const { options, pin } = token(t)
  process.env.SIGNER_PIN = 'wrong-pin-1'
  const { backend, lines } = await setUp(t, options)
  process.env.SIGNER_PIN = pin
  const first = await backend.keys().catch((error: Error) => error)
  t.match(first, { message: /CKR_PIN_INCORRECT.*Correct SIGNER_PIN/ })
  t.notMatch(`${first} ${lines}`, /wrong-pin/)
  await setTimeout(RETRY_MS)
  t.equal(await backend.keys().catch((error) => error), first, 'a token locks itself after a few')
  t.strictSame(await (await setUp(t, options)).backend.keys(), [])
})

t.test('without the PIN it does not start', async (t) => {
  delete process.env.SIGNER_PIN
  await t.rejects(setUp(t, { module: '/m.so', token: 'vault' }), {
    message: /^SIGNER_PIN is missing: set this environment variable to the PIN of the token vault$/,
  })
})

t.test('without the package that opens tokens, it says which to install', async (t) => {
  const { peerDependencies } = JSON.parse(readFileSync('plugins/signer-pkcs11/package.json', 'utf8'))
  const wanted = `npm install pkcs11js@${peerDependencies.pkcs11js}`
  t.ok(readFileSync('plugins/signer-pkcs11/README.md', 'utf8').includes(wanted))
  t.match(JSON.parse(readFileSync('test/tools/token/package.json', 'utf8')).optionalDependencies, peerDependencies)
  process.env.SIGNER_PIN = 'c'
  const { backend } = await setUp(t, { module: '/m.so', token: 'a' }, await installedWith(t))
  await t.rejects(backend.keys(), {
    message: `the token a does not sign: the package pkcs11js is not installed: ${wanted} in the folder of the server`,
  })
})

t.test('a package that was not compiled is named, with the command that compiles it', async (t) => {
  process.env.SIGNER_PIN = 'c'
  const uncompiled = await installedWith(t, `throw new Error('Could not locate the bindings file.\\nTried: ...')`)
  const { backend } = await setUp(t, { module: '/m.so', token: 'a' }, uncompiled)
  await t.rejects(backend.keys(), { message: /npm rebuild pkcs11js .*\(Could not locate the bindings file\.\)$/ })
})

t.test('the module gets no secret of the service, and what else the environment has', async (t) => {
  const withheld = ['SECRET_KEY', 'SECRET_KEY_ALSO', 'SIGNER_PIN', 'DATABASE_URL', 'SMTP_URL', 'METRICS_TOKEN']
  const names = [...withheld, 'SOFTHSM2_CONF']
  const before = { ...process.env }
  t.teardown(() => {
    process.env = before
  })
  for (const name of names) process.env[name] = 'a'
  const listing = `exports.PKCS11 = class { load() { throw new Error(Object.keys(process.env).join()) } }`
  const { backend } = await setUp(t, { module: '/m.so', token: 'a' }, await installedWith(t, listing))
  const message = await backend.keys().then(String, String)
  t.strictSame(
    names.filter((name) => new RegExp(`\\b${name}\\b`).test(message)),
    ['SOFTHSM2_CONF'],
  )
})

t.test('a process that ends is started again', only, async (t) => {
  const made = token(t)
  const { backend, close, lines } = await setUp(t, made.options)
  const { keyId } = await backend.generate()
  const message = Buffer.from('x')
  made.takeAway()
  const first = await backend.sign(keyId, message).catch((error) => error)
  t.equal(await backend.sign(keyId, message).catch((error) => error), first, 'not asked again at once')
  await setTimeout(RETRY_MS)
  await t.rejects(backend.sign(keyId, message), { message: /CKR_GENERAL_ERROR/ })
  made.bringBack()
  await setTimeout(RETRY_MS)
  t.equal((await backend.sign(keyId, message)).length, 64)
  t.match(lines, [/^the token does not sign/, /^the token signs again/])
  await close()
  t.equal((await backend.sign(keyId, message)).length, 64)
})
