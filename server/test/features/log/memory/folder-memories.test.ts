/** What a host remembers of the head that it signed last. Threat O6 of `security.md`. */
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { dataDirMemory, folderIdOf } from '@claimcheck/server/features/log/memory/folder-memories'
import type { Head } from '@claimcheck/server/features/log/memory/head-record'
import { createHostIdentity } from '@claimcheck/server/features/log/memory/host-identity'
import { locksOf } from '@claimcheck/server/features/log/memory/log-moves'
import { type MemorySettings, openMemories } from '@claimcheck/server/features/log/memory/memories'
import t, { type Test } from 'tap'

const HEAD: Head = {
  logId: 'a'.repeat(43),
  name: `claimcheck/ed25519:${'b'.repeat(43)}`,
  treeSize: 1_000_000,
  rootHash: Uint8Array.from({ length: 32 }, (_, index) => index),
  issuedAt: Date.UTC(2026, 8, 25, 12),
}
const LARGEST: Head = { ...HEAD, treeSize: Number.MAX_SAFE_INTEGER }

/** All folders that remember, as one. */
function openFolders(config: MemorySettings, entry?: string) {
  const memories = openMemories({ config, storage: undefined as never })
  const apart = memories.filter(({ isApart }) => isApart)
  return {
    recall: (logId: string) => memories.flatMap((memory) => memory.recall(logId)),
    recallApart: (logId: string) => apart.flatMap((memory) => memory.recall(logId)),
    retired: (logId: string) => memories.flatMap((memory) => memory.retired(logId)),
    remember(head: Head) {
      for (const memory of memories) memory.remember(entry === undefined ? head : { ...head, hosts: [entry] })
    },
    locks: (move: string) => locksOf(memories, move).toReversed(),
    moves: (move: string) => memories.map((memory) => memory.moveAfter(move)).toReversed(),
    problem: () => apart.map((memory) => memory.problem()).find((text) => text !== undefined),
  }
}

function folder(t: Test) {
  const dataDir = t.testdir()
  // A process of its own each time: it knows what the file says, and nothing else.
  const open = () => openFolders({ dataDir })
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
    t.throws(() => open().recall(HEAD.logId), { name: 'ServiceError', kind: 'unreadable' }, text.slice(0, 20))
  }
  writeFileSync(path, whole)
  t.strictSame(open().recall(HEAD.logId), [HEAD])
})

t.test('a file that cannot be read or written is told', async (t) => {
  const { open, path } = folder(t)
  symlinkSync('nowhere/at/all', path)
  t.throws(() => open().remember(HEAD), { name: 'ServiceError', kind: 'unwritable' })
  const occupied = folder(t)
  mkdirSync(occupied.path)
  t.throws(() => occupied.open().recall(HEAD.logId), { name: 'ServiceError', kind: 'unreadable' })
  t.throws(() => occupied.open().remember(HEAD), { name: 'ServiceError', kind: 'unwritable' })
})

t.test('what could not be written is still known to the process, and written the next time', async (t) => {
  const { open, path } = folder(t)
  const memory = open()
  mkdirSync(path)
  t.throws(() => memory.remember(HEAD), { name: 'ServiceError', kind: 'unwritable' })
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
  const open = (name: string) => openFolders({ dataDir: join(root, name), headMemory })
  const [one, two] = [open('one'), open('two')]
  const read = (store: typeof one, move: string) => store.moves(move)
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

t.test(
  'a default folder that can be used later has moves from then on; a named one has those of a version before',
  async (t) => {
    const root = t.testdir({ home: 'no folder' })
    const headMemory = { folder: join(root, 'home', 'memory'), isDefault: true }
    const store = openFolders({ dataDir: join(root, 'one'), headMemory })
    const [own, memory] = store.locks(HEAD.logId)
    t.equal(await memory!.take('first'), 'had', 'nowhere to write')
    t.strictSame(store.moves(HEAD.logId), [undefined, undefined])
    rmSync(join(root, 'home'))
    t.equal(await own!.take('first'), 'taken')
    t.equal(await memory!.take('first'), 'taken')
    t.equal(await memory!.take('first'), 'had')
    t.strictSame(store.moves(HEAD.logId), ['first', 'first'])
    t.strictSame(openFolders({ dataDir: join(root, 'two'), headMemory }).moves(HEAD.logId), [undefined, 'first'])

    const [file] = readdirSync(join(root, 'home', 'memory')).filter((name) => name.endsWith('.next'))
    rmSync(join(root, 'home', 'memory', file!))
    mkdirSync(join(root, 'home', 'memory', file!))
    t.throws(() => store.moves(HEAD.logId), /cannot read where the log goes on/, 'it may say that the log moved')
    rmdirSync(join(root, 'home', 'memory', file!))

    const folder = join(root, 'named')
    mkdirSync(folder)
    writeFileSync(join(folder, `${HEAD.logId}.moved`), '{"restore":"folder"}')
    const named = openFolders({ dataDir: join(root, 'one'), headMemory: { folder, isDefault: false } })
    t.strictSame(named.moves(HEAD.logId), ['first', 'folder'])
    writeFileSync(join(folder, `${HEAD.logId}.next`), '')
    t.strictSame(named.moves(HEAD.logId), ['first', ''], 'an empty file says so, too')
  },
)

t.test('what could not be made to outlive a loss of power is tried again', async (t) => {
  const dataDir = t.testdir()
  const memory = dataDirMemory(dataDir)
  memory.remember(HEAD)
  const path = join(dataDir, 'log-head.json')
  renameSync(path, `${path}.away`)
  await t.rejects(memory.sync(), { code: 'ENOENT' })
  await t.rejects(memory.sync(), { code: 'ENOENT' }, 'again')
  renameSync(`${path}.away`, path)
  await memory.sync()
  rmSync(path)
  await memory.sync()
})

t.test('hosts that share a folder say so in its record, and no other history replaces it', async (t) => {
  const root = t.testdir()
  const headMemory = { folder: join(root, 'memory'), isDefault: false }
  const open = (name: string) => {
    const config = { dataDir: join(root, name), databaseUrl: 'postgres://db/x', headMemory }
    const hostIdentity = createHostIdentity({ config })
    hostIdentity.begin()
    return openFolders(config, hostIdentity.entry())
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
  openFolders({ dataDir: join(root, 'command'), databaseUrl: 'postgres://db/x', headMemory }).remember({
    ...HEAD,
    treeSize: 3,
  })
  t.equal(hosts[0]!.recallApart(HEAD.logId)[0]!.hosts!.length, 3, 'a command writes no head that it signs later')
  t.throws(() => hosts[1]!.remember({ ...HEAD, treeSize: 3, rootHash: new Uint8Array(32) }), {
    name: 'ServiceError',
    kind: 'overtaken',
  })
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
    const open = (name: string) => openFolders({ dataDir: join(root, name), headMemory })
    const [one, two] = [open('one'), open('two')]
    one.remember({ ...HEAD, treeSize: 1 })
    for (const store of [one, two]) t.match(store.recallApart(HEAD.logId), [{ treeSize: 1 }])
    one.remember({ ...HEAD, treeSize: 2 })
    const other = { ...HEAD, rootHash: new Uint8Array(32) }
    t.throws(() => two.remember({ ...other, treeSize: 3 }), { name: 'ServiceError', kind: 'overtaken' }, 'a longer one')
    t.throws(
      () => open('three').remember({ ...other, treeSize: 2 }),
      { name: 'ServiceError', kind: 'overtaken' },
      'another of this size',
    )
    t.match(open('one').recallApart(HEAD.logId), [{ treeSize: 2, rootHash: HEAD.rootHash }])
    two.recallApart(HEAD.logId)
    two.remember({ ...HEAD, treeSize: 3 })
    t.match(open('one').recallApart(HEAD.logId), [{ treeSize: 3 }], 'once it was compared')

    const byDefault = () => openFolders({ dataDir: join(root, 'four'), headMemory: { ...headMemory, isDefault: true } })
    const [server, command] = [byDefault(), byDefault()]
    for (const treeSize of [1, 2]) server.remember({ ...HEAD, treeSize })
    t.throws(
      () => command.remember({ ...other, treeSize: 2 }),
      { name: 'ServiceError', kind: 'overtaken' },
      'also in the default folder',
    )
    t.equal(command.problem(), undefined)
  },
)
