/** What of a database's settings may lose receipts in a disaster. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HeadMemory } from '@claimcheck/server/features/log/config'
import { createDurabilityWarnings, warningsOf } from '@claimcheck/server/features/log/durability-warnings'
import { folderMemory } from '@claimcheck/server/features/log/memory/folder-memories'
import t from 'tap'

const SAFE = {
  fsync: 'on',
  fullPageWrites: 'on',
  synchronousCommit: 'on',
  synchronousNames: '',
  standbys: 0,
  hidden: 0,
  synchronous: 0,
}
const STANDBY = { standbys: 1, synchronousNames: 'one' }

for (const [what, settings, reasons, words] of [
  ['safe settings', {}, [], /^$/],
  ['no fsync', { fsync: 'off' }, ['fsync'], /fsync is off/],
  ['no full pages', { fullPageWrites: 'off' }, ['full_page_writes'], /may be damaged/],
  ['no commit', { synchronousCommit: 'off' }, ['synchronous_commit'], /the last receipts are lost/],
  ['an asynchronous standby', { standbys: 1 }, ['standby'], /no standby is synchronous/],
  ['a synchronous standby', { ...STANDBY, synchronous: 1 }, [], /^$/],
  [
    'one that is not waited for',
    { ...STANDBY, synchronous: 1, synchronousCommit: 'local' },
    ['synchronous_commit'],
    /local/,
  ],
  ['one that is hidden', { ...STANDBY, hidden: 1 }, ['standby'], /hidden from this database user.*pg_monitor/],
  ['one that is hidden, where none can be synchronous', { standbys: 1, hidden: 1 }, ['standby'], /no standby is/],
] as const) {
  t.test(what, async (t) => {
    const warnings = warningsOf({ ...SAFE, ...settings })
    t.strictSame([...warnings.keys()], [...reasons])
    t.match([...warnings.values()].join(), words)
  })
}

t.test('SQLite without a memory outside of DATA_DIR', async (t) => {
  const folder = t.testdir({ file: '' })
  const current = (headMemory: HeadMemory | undefined) =>
    createDurabilityWarnings({
      storage: { shared: undefined, read: undefined as never },
      logMemories: { problem: () => undefined },
      config: { dataDir: folder, databaseUrl: 'sqlite:x.db', headMemory, remoteMemory: undefined },
      logger: { warn() {} },
    }).current()
  t.match((await current(undefined)).get('no_head_memory'), /^nothing outside of DATA_DIR/)
  t.match((await current({ folder: `${folder}/file/none`, isDefault: true })).get('no_head_memory'), /HEAD_MEMORY/)
  t.equal((await current({ folder, isDefault: false })).size, 0)
})

t.test('a default memory that vanished is warned of with the next write, and no more when it is back', async (t) => {
  const dataDir = t.testdir({ data: {}, home: {} })
  const folder = join(dataDir, 'home', 'claimcheck')
  const config = { dataDir: join(dataDir, 'data'), databaseUrl: 'sqlite:x.db', headMemory: { folder, isDefault: true } }
  const logMemories = folderMemory(config)!
  const { current } = createDurabilityWarnings({
    storage: { shared: undefined, read: undefined as never },
    logMemories,
    config: { ...config, remoteMemory: undefined },
    logger: { warn() {} },
  })
  const write = (treeSize: number) =>
    logMemories.remember({ logId: 'log', name: 'log', treeSize, rootHash: new Uint8Array(32), issuedAt: 0 })
  write(1)
  t.equal((await current()).size, 0)
  rmSync(folder, { recursive: true })
  writeFileSync(folder, 'no folder')
  write(2)
  t.match((await current()).get('head_memory'), /^cannot write HEAD_MEMORY/)
  rmSync(folder)
  write(3)
  t.equal((await current()).size, 0)
})
