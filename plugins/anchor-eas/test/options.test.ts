// Test run: end-to-end
/** The plugin's options and its key. */
import { isPlugin } from '@claimcheck/core/hosting'
import anchorEas from '@claimcheck/plugin-anchor-eas'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { keyFile, type PluginOptions, setUpPlugin } from './fixture.ts'

const KEY = '0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318'
const ADDRESS = '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23'
const ORDER = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
const BASE = { rpc_url: 'https://rpc.example/v1/a-secret', chain: 'base-sepolia' } as const

const isOptions = new Ajv2020({ strict: true, strictTypes: false, keywords: ['x-pattern-help'] }).compile(
  anchorEas.options,
)

t.test('the package is a plugin, and refuses unknown options', async (t) => {
  t.ok(isPlugin(anchorEas))
  t.ok(isOptions({ ...BASE, key_file: 'key' }))
  t.notOk(isOptions({ ...BASE, key: KEY }))
})

t.test('the anchorer is set up without a request', async (t) => {
  const { anchorer } = await setUpPlugin({ ...BASE, key_file: keyFile(t, KEY) })
  t.match(anchorer, { chain: 'eip155:84532', scheme: 'eas', intervalMs: 600_000, stuckAfterMs: 180_000 })
  t.same(anchorer?.identity(), {
    attester: ADDRESS,
    schema: '0x8c2390b3ccbad40acc0b8bd80ddcaff120854e94b881fc226924c51cde0a28ec',
  })
})

t.test('a chain is given by its name, or by its id and addresses', async (t) => {
  const key_file = keyFile(t, KEY)
  const chainOf = async (chain: PluginOptions['chain']) => {
    t.ok(isOptions({ ...BASE, chain }))
    return (await setUpPlugin({ ...BASE, chain, key_file })).anchorer?.chain
  }
  t.equal(await chainOf('op-sepolia'), 'eip155:11155420')
  t.equal(await chainOf('sepolia'), 'eip155:11155111')
  t.equal(await chainOf({ id: 5, eas: ADDRESS, schema_registry: ADDRESS.toLowerCase() }), 'eip155:5')
  t.notOk(isOptions({ ...BASE, chain: 'mainnet' }))
  t.notOk(isOptions({ ...BASE, chain: { id: 0, eas: ADDRESS, schema_registry: ADDRESS } }))
  t.notOk(isOptions({ ...BASE, chain: { id: 5, eas: '0x12', schema_registry: ADDRESS } }))
  await t.rejects(chainOf({ id: 5, eas: ADDRESS.replace('E', 'e'), schema_registry: ADDRESS }))
})

t.test('the key is 32 bytes in hex, from a file or from the environment', async (t) => {
  for (const text of [KEY, KEY.slice(2), `${KEY.toUpperCase().replace('0X', '0x')}\n`]) {
    const { anchorer } = await setUpPlugin({ ...BASE, key_file: keyFile(t, text) })
    t.equal(anchorer?.identity().attester, ADDRESS)
  }
  setEnvironment(t, KEY)
  const { anchorer } = await setUpPlugin({ ...BASE, key_env: 'ANCHOR_TEST_KEY' })
  t.equal(anchorer?.identity().attester, ADDRESS)
})

t.test('a wrong key is refused, and no part of it is shown', async (t) => {
  const wrong = ['', 'key', KEY.slice(0, -1), `${KEY}0`, `${KEY}\n${KEY}`, `0x${'0'.repeat(64)}`, ORDER, 'f'.repeat(64)]
  for (const text of wrong) {
    setEnvironment(t, text)
    for (const source of [{ key_file: keyFile(t, text) }, { key_env: 'ANCHOR_TEST_KEY' }]) {
      const error = await setUpPlugin({ ...BASE, ...source }).catch((error: unknown) => error)
      t.ok(error instanceof Error)
      const shown = `${(error as Error).stack} ${JSON.stringify(error)}`
      for (const secret of [KEY.slice(2, 20), ORDER, 'f'.repeat(32), '0'.repeat(32)]) t.notMatch(shown, secret)
    }
  }
})

t.test('a missing key is refused, and a key in place of its file or variable is not shown', async (t) => {
  const digits = KEY.slice(2)
  for (const source of [
    {},
    { key_file: '/nowhere/key', key_env: 'ANCHOR_TEST_KEY' },
    { key_file: '/nowhere/key' },
    { key_file: '/' },
    { key_file: KEY },
    { key_env: 'ANCHOR_TEST_KEY' },
    { key_env: 'c'.repeat(60) },
  ]) {
    const error = await setUpPlugin({ ...BASE, ...source }).catch((error: unknown) => error)
    t.ok(error instanceof Error)
    t.notMatch(`${(error as Error).stack}`, digits)
  }
  for (const key_env of [KEY, digits, 'c'.repeat(64)]) t.notOk(isOptions({ ...BASE, key_env }))
})

t.test('a key file that other users can read gives a warning', async (t) => {
  const warnings: string[] = []
  const warn = (_: unknown, message: string) => void warnings.push(message)
  await setUpPlugin({ ...BASE, key_file: keyFile(t, KEY, 0o600) }, warn)
  t.equal(warnings.length, 0)
  await setUpPlugin({ ...BASE, key_file: keyFile(t, KEY, 0o640) }, warn)
  t.equal(warnings.length, 1)
})

t.test('the URL is an HTTP URL without credentials', async (t) => {
  for (const rpc_url of ['ws://a', 'https://', 'https://user:word@host', 'https://a b', 'file:///x', 'https://a#b']) {
    t.notOk(isOptions({ ...BASE, rpc_url }), rpc_url)
  }
  await t.rejects(setUpPlugin({ ...BASE, rpc_url: 'http://a:99999', key_file: keyFile(t, KEY) }))
})

function setEnvironment(t: { teardown(end: () => void): void }, value: string): void {
  process.env.ANCHOR_TEST_KEY = value
  t.teardown(() => delete process.env.ANCHOR_TEST_KEY)
}
