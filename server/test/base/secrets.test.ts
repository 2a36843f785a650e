/** What is sealed under `SECRET_KEY`, and where that key comes from. Threat K5 of `security.md`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { addKeyToFile, removeKeysFromFile, secretKeyPath } from '@claimcheck/server/base/secret-keys'
import { openSecrets } from '@claimcheck/server/base/secrets'
import t from 'tap'

const KEY = Buffer.alloc(32, 1)

t.test('what is derived for a purpose is the same everywhere, and another for each purpose and each key', async (t) => {
  const derive = (purpose: string, key = KEY) => openSecrets({ secretKey: key, dataDir: t.testdir() }).derive(purpose)
  t.equal(derive('one').length, 32)
  t.same(derive('one'), derive('one'))
  t.notSame(derive('one'), derive('two'))
  t.notSame(derive('one'), derive('one', Buffer.alloc(32, 2)))
})

t.test('a secret opens again, in its own place and under its own key alone', async (t) => {
  const dataDir = t.testdir()
  const secrets = openSecrets({ secretKey: KEY, dataDir })
  const sealed = secrets.seal('tökèn', 'connection:a:token')
  t.equal(secrets.open(sealed, 'connection:a:token'), 'tökèn')
  t.not(secrets.seal('tökèn', 'connection:a:token'), sealed, 'sealed alike, no two look alike')
  const wrong: [string, () => string][] = [
    ['another place', () => secrets.open(sealed, 'connection:b:token')],
    ['another key', () => openSecrets({ secretKey: Buffer.alloc(32, 2), dataDir }).open(sealed, 'connection:a:token')],
    ['a changed byte', () => secrets.open(`${sealed.slice(0, -3)}AAA`, 'connection:a:token')],
    ['a piece of it', () => secrets.open(sealed.slice(0, 12), 'connection:a:token')],
    ['nothing', () => secrets.open('', 'connection:a:token')],
    ['another version', () => secrets.open(sealed.replace('v2', 'v3'), 'connection:a:token')],
    ['without its key id', () => secrets.open(sealed.replace(/^v2\.[0-9a-f]{8}/, 'v2'), 'connection:a:token')],
    ['another key id', () => secrets.open(sealed.replace(/^v2\.[0-9a-f]{8}/, 'v2.00000000'), 'connection:a:token')],
  ]
  for (const [name, open] of wrong) t.throws(open, { code: 'wrong_key' }, name)
  t.notOk(existsSync(secretKeyPath(dataDir)), 'no key is kept where one is given')
})

t.test('a key is made once, for its owner alone, and two that start together take the same', async (t) => {
  const dataDir = join(t.testdir(), 'data')
  const script = `import { openSecrets } from ${JSON.stringify(resolve('server/dist/base/secrets.js'))}
    process.stdout.write(openSecrets({ dataDir: ${JSON.stringify(dataDir)} }).seal('x', 'c'))`
  const sealed = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script])
      const [output] = await Promise.all([once(child.stdout, 'data'), once(child, 'close')])
      return String(output[0])
    }),
  )
  const secrets = openSecrets({ secretKey: undefined, dataDir })
  t.strictSame(
    sealed.map((text) => secrets.open(text, 'c')),
    ['x', 'x', 'x', 'x'],
  )
  t.equal(statSync(join(dataDir, 'secret.key')).mode & 0o777, 0o600)
  t.strictSame(readdirSync(dataDir), ['secret.key'], 'and nothing else is left behind')
})

t.test('a kept key that cannot be used is told', async (t) => {
  const dataDir = t.testdir({ 'secret.key': 'short' })
  chmodSync(join(dataDir, 'secret.key'), 0o600)
  t.throws(() => openSecrets({ secretKey: undefined, dataDir }), { code: 'unusable_key_file' })
  t.equal(readFileSync(join(dataDir, 'secret.key'), 'utf8'), 'short', 'and left as it is')
  writeFileSync(join(dataDir, 'file'), '')
  t.throws(() => openSecrets({ secretKey: undefined, dataDir: join(dataDir, 'file') }), { code: 'unusable_key_file' })
})

t.test('a kept key that others can read is not used', async (t) => {
  const dataDir = t.testdir()
  openSecrets({ secretKey: undefined, dataDir })
  const path = join(dataDir, 'secret.key')
  for (const mode of [0o644, 0o640, 0o604, 0o660]) {
    chmodSync(path, mode)
    t.throws(() => openSecrets({ secretKey: undefined, dataDir }), { code: 'unusable_key_file' })
  }
  chmodSync(path, 0o400)
  t.doesNotThrow(() => openSecrets({ secretKey: undefined, dataDir }))
})

t.test('not a single byte of a sealed secret can be changed', async (t) => {
  const secrets = openSecrets({ secretKey: KEY, dataDir: t.testdir() })
  const [version, keyId, sealed = ''] = secrets.seal('token', 'place').split('.')
  const bytes = Buffer.from(sealed, 'base64url')
  for (const index of bytes.keys()) {
    const other = Buffer.from(bytes)
    other[index]! ^= 1
    t.throws(() => secrets.open(`${version}.${keyId}.${other.toString('base64url')}`, 'place'), { code: 'wrong_key' })
  }
})

t.test('each value names the key that sealed it, and nothing of that key', async (t) => {
  const dataDir = t.testdir()
  const [one, other] = [KEY, Buffer.alloc(32, 2)].map((secretKey) => openSecrets({ secretKey, dataDir }))
  const [id] = one!.keyIds()
  t.match(id, /^[0-9a-f]{8}$/)
  t.equal(one!.seal('x', 'c').split('.')[1], id)
  t.notSame(other!.keyIds(), [id])
  t.notOk(KEY.toString('hex').includes(id!) || one!.derive('key').toString('hex').includes(id!))
})

t.test('keys beside the current one open and do not seal', async (t) => {
  const dataDir = t.testdir()
  const [old, next, stranger] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer]
  const before = openSecrets({ secretKey: old, dataDir })
  const secrets = openSecrets({ secretKey: next, secretKeysAlso: [stranger, old], dataDir })
  const sealed = [before.seal('one', 'c'), secrets.seal('one', 'c')] as const
  const [nextId, , oldId] = secrets.keyIds()
  t.strictSame(
    sealed.map((text) => [secrets.open(text, 'c'), secrets.keyIdOf(text)]),
    [oldId, nextId].map((id) => ['one', id]),
  )
  const again = secrets.reseal(sealed[0], 'c')!
  t.ok(again.startsWith(`v2.${nextId}.`))
  t.equal(openSecrets({ secretKey: next, dataDir }).open(again, 'c'), 'one', 'without the old key')
  t.throws(() => secrets.reseal(sealed[0], 'd'), { code: 'wrong_key' }, 'in its own place alone')
  t.equal(secrets.reseal(sealed[1], 'c'), undefined, 'it is as it should be')

  t.same(secrets.derive('p'), openSecrets({ secretKey: next, dataDir }).derive('p'))
  t.same(secrets.deriveAll('p')[2], before.derive('p'))

  const lost = openSecrets({ secretKey: stranger, dataDir })
  t.throws(() => lost.open(sealed[0], 'c'), { code: 'wrong_key', message: new RegExp(`${oldId}.*SECRET_KEY_ALSO`) })
  t.strictSame([lost.keyIdOf(sealed[0]), lost.keyIdOf('text')], [oldId, undefined])
})

t.test('a new key in the key file seals at once in running programs, and the old one still opens', async (t) => {
  const dataDir = t.testdir()
  const running = openSecrets({ secretKey: undefined, dataDir })
  const before = running.seal('x', 'c')
  const [oldId] = running.keyIds()
  const added = addKeyToFile(dataDir)
  t.strictSame(running.keyIds(), [added.id, oldId])
  t.equal(running.open(before, 'c'), 'x')
  const after = running.seal('x', 'c')
  t.ok(after.startsWith(`v2.${added.id}.`))
  t.equal(openSecrets({ secretKey: undefined, dataDir }).open(after, 'c'), 'x', 'in programs that start later, too')
  t.equal(statSync(secretKeyPath(dataDir)).mode & 0o777, 0o600)
  t.strictSame(readdirSync(dataDir), ['secret.key'], 'and no draft of it is left')

  removeKeysFromFile(dataDir, [oldId!, added.id])
  t.strictSame(running.keyIds(), [added.id], 'never the current one')
  t.throws(() => running.open(before, 'c'), { code: 'wrong_key' })
  rmSync(secretKeyPath(dataDir))
  t.equal(running.open(after, 'c'), 'x', 'a lost file stops no program that runs')
})
