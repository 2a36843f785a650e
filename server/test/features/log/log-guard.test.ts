/** A host that learns from the chain that its database is an old one stores nothing more, signed or not. Threat O6 of `security.md`. */
import { mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { AttestedSearch } from '@claimcheck/core/plugin'
import { createLogPlanner } from '@claimcheck/server/features/log/log-planner'
import { dataDirMemory } from '@claimcheck/server/features/log/memory/folder-memories'
import { createSigningKeys } from '@claimcheck/server/features/log/signing/signing-keys'
import t, { type Test } from 'tap'
import { openSqlite } from '../../../../test/support/storage.ts'
import { openLogGuard } from '../../support/log-guard.ts'
import { plainKeyFiles } from '../../support/plain-key-files.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const NONE: AttestedSearch = { roots: [], next: null }

/** A host with an empty log, and a chain that answers what `found` gives. */
async function host(t: Test, found: (logId: string) => AttestedSearch | Promise<AttestedSearch>) {
  const folder = t.testdir()
  const storage = await openSqlite(join(folder, 'claimcheck.db'))
  t.teardown(() => storage.close())
  const config = { issuerName: 'Example', publicUrl: undefined }
  const asked: (number | undefined)[] = []
  const logGuard = openLogGuard(storage, folder, {
    chain: 'test:1',
    scheme: 'test',
    attested: async (logId, { from }) => {
      asked.push(from)
      return found(logId)
    },
  })
  const vault = plainKeyFiles(folder)
  const signingKeys = createSigningKeys({ storage, vault, logGuard, now: () => NOON, config })
  await signingKeys.ensureLog()
  const planner = createLogPlanner({ signingKeys, logGuard, signedReceipts: { add() {} }, config })
  return { storage, logGuard, planner, asked }
}

function larger(logId: string): AttestedSearch {
  return {
    roots: [{ logId, treeSize: 5, rootHash: new Uint8Array(32), txHash: '0xabc', time: NOON / 1000 }],
    next: null,
  }
}

async function examined({ logGuard }: Awaited<ReturnType<typeof host>>): Promise<void> {
  await logGuard.examine()
  await setImmediate()
  await logGuard.examine()
}

t.test('the chain answers after the last look: neither a claim is stored nor a content erased', async (t) => {
  let answer = (_: AttestedSearch) => {}
  const answered = new Promise<AttestedSearch>((resolve) => {
    answer = resolve
  })
  const started = await host(t, () => answered)
  const { storage, logGuard, planner } = started
  await logGuard.examine()
  t.match(logGuard.problem(), /asks the chain/)
  const log = (await storage.read.log.state())!
  await logGuard.checkOpen(log, storage.read.log)
  answer(larger(log.logId))
  await setImmediate()
  const refused = {
    code: 'read_only',
    message: /its log has 0 entries, and 5 were signed and anchored by the transaction 0xabc/,
  }
  await t.rejects(logGuard.checkOpen(log, storage.read.log), refused)
  await t.rejects(
    storage.write((tx) => planner.plan(tx.log, log, [])),
    refused,
    'a claim that is not decided',
  )
  await t.rejects(logGuard.check(log, storage.read.log), refused)
  t.match(logGuard.problem(), /anchored/)
  t.notOk(logGuard.isWaiting())
  await t.rejects(logGuard.requireNewest(), refused)
})

t.test('what a plugin answers that is no search is a failure of the chain', async (t) => {
  const [root] = larger('x').roots
  for (const [what, answer] of [
    ['nothing', undefined],
    ['a list', []],
    ['roots without how far it searched', { roots: [] }],
    ['a block that is none', { roots: [], next: -1 }],
    ['a root that is none', { roots: [{ ...root, rootHash: 'x' }], next: null }],
    ['a time that is none', { roots: [{ ...root, time: 1e300 }], next: null }],
  ] as const) {
    const { logGuard } = await host(t, () => answer as never)
    t.match((await logGuard.findLacking()).notices, [/cannot be asked \(anchorer_error\)/], what)
  }
})

t.test('a host that remembers the log goes on while the search is cut short', async (t) => {
  const started = await host(t, () => ({ roots: [], next: 41 }))
  await examined(started)
  t.equal(started.logGuard.problem(), undefined)
  t.match((await started.logGuard.findLacking()).notices, [/nothing of the log from block 42 on/])
})

t.test('while nothing was compared yet, a host says so', async (t) => {
  const { logGuard } = await host(t, () => NONE)
  const examining = logGuard.examine()
  t.match(logGuard.problem(), /compares the log/)
  t.ok(logGuard.isWaiting())
  await examining
})

t.test('a host that begins a log and remembers another stays read-only: its database may be gone', async (t) => {
  const folder = t.testdir()
  const config = { issuerName: 'Example', publicUrl: undefined }
  const begun = async (name: string) => {
    const storage = await openSqlite(join(folder, name))
    t.teardown(() => storage.close())
    const logGuard = openLogGuard(storage, folder)
    const vault = plainKeyFiles(folder)
    await createSigningKeys({ storage, vault, logGuard, now: () => NOON + name.length, config }).ensureLog()
    await logGuard.examine()
    return logGuard
  }
  t.equal((await begun('first.db')).problem(), undefined)
  t.match((await begun('another.db')).problem(), /another log than the one that this host signed last/)
  t.equal((await begun('first.db')).problem(), undefined, 'the database is back')
})

t.test('a host that cannot remember tells all the same; one on an older or restored database does not', async (t) => {
  const folder = t.testdir()
  const storage = await openSqlite(join(folder, 'claimcheck.db'))
  t.teardown(() => storage.close())
  const logGuard = openLogGuard(storage, folder)
  const config = { issuerName: 'Example', publicUrl: undefined }
  await createSigningKeys({ storage, vault: plainKeyFiles(folder), logGuard, now: () => NOON, config }).ensureLog()
  await logGuard.examine()
  t.notOk(await logGuard.mayBeRehearsal())
  const remembered = join(folder, 'log-head.json')
  renameSync(remembered, `${remembered}.away`)
  symlinkSync('nowhere/at/all', remembered)
  await logGuard.examine()
  t.match(logGuard.problem(), /cannot write DATA_DIR/)
  t.notOk(await logGuard.mayBeRehearsal(), 'nothing is wrong with the database')
  const closing = { epoch: 'bkp_1', madeAt: NOON, restore: 'here' }
  await storage.write((tx) => tx.log.close(closing))
  t.ok(await logGuard.mayBeRehearsal(), 'restored')
  await storage.write((tx) => tx.log.close(null))
  t.notOk(await logGuard.mayBeRehearsal())
  renameSync(`${remembered}.away`, remembered)
  const log = (await storage.read.log.state())!
  dataDirMemory(folder).remember({ ...log, treeSize: 3 })
  await logGuard.examine()
  t.match(logGuard.problem(), /its log has 0 entries, and 3 were signed/)
  t.ok(await logGuard.mayBeRehearsal(), 'an older one')
  const other = openLogGuard(storage, t.testdir())
  const examining = other.examine()
  t.ok(await other.mayBeRehearsal(), 'nothing is known yet')
  await examining
})

t.test('where it cannot be read that the log was moved, nothing is planned ahead', async (t) => {
  const { logGuard, storage } = await host(t, () => NONE)
  await examined({ logGuard } as never)
  const log = (await storage.read.log.state())!
  t.ok(logGuard.isRemembered(log))
  const folder = storage.file!.replace(/[^/]*$/, '')
  mkdirSync(join(folder, 'log-heads', `${log.logId}.next`), { recursive: true })
  t.notOk(logGuard.isRemembered(log))
  await t.rejects(logGuard.check(log, storage.read.log), {
    code: 'read_only',
    message: /cannot read where the log goes on/,
  })
})
