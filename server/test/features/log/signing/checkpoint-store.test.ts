/** What a host remembers of the head that it signed last. Threat O6 of `security.md`. */
import { appendFileSync, mkdirSync, readFileSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createCheckpointStore, folderIdOf } from '@claimcheck/server/features/log/signing/checkpoint-store'
import type { Head } from '@claimcheck/server/features/log/signing/head-record'
import { createHostIdentity } from '@claimcheck/server/features/log/signing/host-identity'
import t, { type Test } from 'tap'

const HEAD: Head = {
  logId: 'a'.repeat(43),
  name: `claimcheck/ed25519:${'b'.repeat(43)}`,
  treeSize: 1_000_000,
  rootHash: Uint8Array.from({ length: 32 }, (_, index) => index),
  issuedAt: Date.UTC(2026, 8, 25, 12),
}
const LARGEST: Head = { ...HEAD, treeSize: Number.MAX_SAFE_INTEGER }

function folder(t: Test) {
  const dataDir = t.testdir()
  // A process of its own each time: it knows what the file says, and nothing else.
  const open = () => createCheckpointStore({ config: { dataDir } })
  return { open, path: join(dataDir, 'log-head.json') }
}

t.test('a host that has not signed remembers nothing', async (t) => {
  const { open } = folder(t)
  t.strictSame(open().recall(HEAD.logId), [])
})

t.test('the next process recalls it, from a file for its owner alone that is always as long', async (t) => {
  const { open, path } = folder(t)
  for (const head of [{ ...HEAD, treeSize: 0 }, HEAD, LARGEST]) {
    open().remember(head)
    t.strictSame(open().recall(HEAD.logId), [head])
    t.match(statSync(path), { size: 2048 })
    t.equal(statSync(path).mode & 0o777, 0o600)
  }
})

t.test('within a log nothing earlier is remembered, also when another process has remembered more', async (t) => {
  const { open } = folder(t)
  const [slow, quick] = [open(), open()]
  slow.remember({ ...HEAD, treeSize: 1 })
  quick.remember({ ...HEAD, treeSize: 3 })
  slow.remember({ ...HEAD, treeSize: 2 })
  t.match(open().recall(HEAD.logId), [{ treeSize: 3 }])
  slow.remember({ ...HEAD, treeSize: 4 })
  slow.remember({ ...HEAD, treeSize: 1 })
  t.match([slow.recall(HEAD.logId), open().recall(HEAD.logId)], [[{ treeSize: 4 }], [{ treeSize: 4 }]])
})

t.test('the head of another log is the newest of all, and that of the log before stays', async (t) => {
  const { open } = folder(t)
  open().remember(HEAD)
  const other = { ...HEAD, logId: 'c'.repeat(43), treeSize: 1 }
  open().remember(other)
  t.strictSame(open().recall(HEAD.logId), [other, HEAD])
})

t.test('a record that is not whole is not believed', async (t) => {
  const { open, path } = folder(t)
  open().remember(HEAD)
  const whole = readFileSync(path, 'utf8')
  const broken = [
    '',
    'null',
    '{}',
    '[]',
    whole.slice(0, 100),
    whole.replace('1000000', '1000001'),
    whole.replace(HEAD.logId, LARGEST.logId.replace('a', 'b')),
    whole.slice(0, 256) + ' '.repeat(1792),
  ]
  for (const text of broken) {
    writeFileSync(path, text)
    t.throws(() => open().recall(HEAD.logId), { name: 'HeadMemoryError', code: 'unreadable' }, text.slice(0, 20))
  }
  writeFileSync(path, whole)
  t.strictSame(open().recall(HEAD.logId), [HEAD])
})

t.test('a file that cannot be read or written is told', async (t) => {
  const { open, path } = folder(t)
  symlinkSync('nowhere/at/all', path)
  t.throws(() => open().remember(HEAD), { name: 'HeadMemoryError', code: 'unwritable' })
  const occupied = folder(t)
  mkdirSync(occupied.path)
  t.throws(() => occupied.open().recall(HEAD.logId), { code: 'unreadable' })
  t.throws(() => occupied.open().remember(HEAD), { code: 'unwritable' })
})

t.test('what could not be written is still known to the process, and written the next time', async (t) => {
  const { open, path } = folder(t)
  const memory = open()
  mkdirSync(path)
  t.throws(() => memory.remember(HEAD), { code: 'unwritable' })
  t.strictSame(memory.recall(HEAD.logId), [HEAD])
  rmdirSync(path)
  memory.remember({ ...HEAD, treeSize: 1 })
  t.strictSame(open().recall(HEAD.logId), [HEAD])
})

const signedBy = (key: string, treeSize: number) =>
  JSON.stringify({ body: { tree_size: treeSize }, signature: { key_id: key } })

t.test('the last head of each key before is kept, also that of the log before', async (t) => {
  const { open, path } = folder(t)
  const [one, two, three] = [signedBy('one', 1), signedBy('two', 2), signedBy('three', 3)]
  open().remember({ ...HEAD, treeSize: 1, signed: one })
  // A rotation signs the same tree again.
  const memory = open()
  memory.recall(HEAD.logId)
  memory.remember({ ...HEAD, treeSize: 1 })
  t.match(open().recall(HEAD.logId), [{ signed: one }])
  t.strictSame(open().retired(HEAD.logId), [])
  memory.remember({ ...HEAD, treeSize: 2, signed: two })
  memory.remember({ ...HEAD, treeSize: 3 })
  t.match(open().recall(HEAD.logId), [{ treeSize: 3, signed: two }])
  appendFileSync(path, '{"torn')
  open().remember({ ...HEAD, treeSize: 4, signed: three })
  open().remember({ ...HEAD, treeSize: 5, signed: signedBy('three', 5) })
  t.match(open().recall(HEAD.logId), [{ treeSize: 5 }])
  t.strictSame(open().retired(HEAD.logId), [one, two])

  const other = { ...HEAD, logId: 'c'.repeat(43), treeSize: 1 }
  memory.remember(other)
  t.match(open().recall(HEAD.logId), [other, { treeSize: 5, signed: signedBy('three', 5) }])
  t.strictSame(open().recall(other.logId), [other])
  t.strictSame(open().retired(HEAD.logId), [one, two])
})

t.test('the first move that follows another is written down in each memory, and found by all', async (t) => {
  const root = t.testdir()
  const headMemory = { folder: join(root, 'memory'), isDefault: true }
  const open = (name: string) => createCheckpointStore({ config: { dataDir: join(root, name), headMemory } })
  const [one, two] = [open('one'), open('two')]
  const read = (store: typeof one, move: string) => store.locks(move).map((lock) => lock.read())
  t.strictSame(read(one, HEAD.logId), [undefined, undefined])
  for (const lock of two.locks(HEAD.logId)) t.ok(await lock.take('bkp_first'))
  t.strictSame(read(one, HEAD.logId), [undefined, 'bkp_first'], 'in the folder that both have')
  t.notOk(await one.locks(HEAD.logId)[1]!.take('another'))
  t.ok(await one.locks(HEAD.logId)[1]!.take('bkp_first'), 'again')
  for (const lock of one.locks(HEAD.logId)) await lock.release('another')
  t.strictSame(read(two, HEAD.logId), ['bkp_first', 'bkp_first'])
  for (const lock of two.locks(HEAD.logId)) await lock.release('bkp_first')
  t.strictSame(read(two, HEAD.logId), [undefined, undefined])

  writeFileSync(join(root, 'memory', 'bkp_first.json'), '{"restore":"by-an-earlier-version"}')
  t.strictSame(read(open('three'), 'bkp_first'), [undefined, 'by-an-earlier-version'])
  writeFileSync(join(root, 'memory', `${HEAD.logId}-${folderIdOf(join(root, 'one'))}.moved`), 'folder')
  t.strictSame(read(open('one'), HEAD.logId), [undefined, 'folder'], 'as an earlier version wrote it')
  t.strictSame(read(open('two'), HEAD.logId), [undefined, undefined])
})

t.test('hosts that share a folder say so in its record, and no other history replaces it', async (t) => {
  const root = t.testdir()
  const headMemory = { folder: join(root, 'memory'), isDefault: false }
  const open = (name: string) => {
    const config = { dataDir: join(root, name), databaseUrl: 'postgres://db/x', headMemory }
    const hostIdentity = createHostIdentity({ config })
    hostIdentity.begin()
    return createCheckpointStore({ config, hostIdentity })
  }
  const hosts = ['one', 'two', 'three'].map(open)
  for (const [index, host] of hosts.entries()) host.remember({ ...HEAD, treeSize: 3 - index })
  const [head] = hosts[0]!.recallApart(HEAD.logId)
  t.match(head, { treeSize: 3 })
  const ids = ['one', 'two', 'three'].map((name) => readFileSync(join(root, name, 'host-id'), 'utf8').slice(0, 8))
  t.same(head!.hosts?.map((entry) => entry.split('/')[0]).toSorted(), ids.toSorted())
  await setTimeout(2)
  open('one').remember({ ...HEAD, treeSize: 3 })
  t.equal(hosts[0]!.recallApart(HEAD.logId)[0]!.hosts!.length, 3, 'a host that was started again replaces its entry')
  createCheckpointStore({
    config: { dataDir: join(root, 'command'), databaseUrl: 'postgres://db/x', headMemory },
  }).remember({ ...HEAD, treeSize: 3 })
  t.equal(hosts[0]!.recallApart(HEAD.logId)[0]!.hosts!.length, 3, 'a command writes no head that it signs later')
  t.throws(() => hosts[1]!.remember({ ...HEAD, treeSize: 3, rootHash: new Uint8Array(32) }), { code: 'overtaken' })
  for (let more = 0; more < 40; more++)
    open(`more-${more}`).remember({ ...LARGEST, signed: signedBy('k'.repeat(900), LARGEST.treeSize) })
  t.match(open('one').recallApart(HEAD.logId), [{ treeSize: LARGEST.treeSize }])
  t.match(statSync(join(headMemory.folder, `${HEAD.logId}.json`)), { size: 2048 })
})

t.test(
  'two copies of one database in a folder: who has not read what the other wrote overwrites nothing',
  async (t) => {
    const root = t.testdir()
    const headMemory = { folder: join(root, 'memory'), isDefault: false }
    const open = (name: string) => createCheckpointStore({ config: { dataDir: join(root, name), headMemory } })
    const [one, two] = [open('one'), open('two')]
    one.remember({ ...HEAD, treeSize: 1 })
    for (const store of [one, two]) t.match(store.recallApart(HEAD.logId), [{ treeSize: 1 }])
    one.remember({ ...HEAD, treeSize: 2 })
    const other = { ...HEAD, rootHash: new Uint8Array(32) }
    t.throws(() => two.remember({ ...other, treeSize: 3 }), { code: 'overtaken' }, 'a longer one')
    t.throws(() => open('three').remember({ ...other, treeSize: 2 }), { code: 'overtaken' }, 'another of this size')
    t.match(open('one').recallApart(HEAD.logId), [{ treeSize: 2, rootHash: HEAD.rootHash }])
    two.recallApart(HEAD.logId)
    two.remember({ ...HEAD, treeSize: 3 })
    t.match(open('one').recallApart(HEAD.logId), [{ treeSize: 3 }], 'once it was compared')

    const byDefault = () =>
      createCheckpointStore({ config: { dataDir: join(root, 'four'), headMemory: { ...headMemory, isDefault: true } } })
    const [server, command] = [byDefault(), byDefault()]
    for (const treeSize of [1, 2]) server.remember({ ...HEAD, treeSize })
    t.throws(() => command.remember({ ...other, treeSize: 2 }), { code: 'overtaken' }, 'also in the default folder')
    t.equal(command.problem(), undefined)
  },
)
