// Test run: slow
/** The audit trail in the database: who sees which entries, what exports hold, what is cut, and what the doctor says of all that. */
import { setTimeout } from 'node:timers/promises'
import { byUser } from '@claimcheck/server/base/actor'
import { createProblems } from '@claimcheck/server/base/problems'
import { checkLines, type FileEntry } from '@claimcheck/server/features/audit-trail/check-file'
import { examineAuditTrail } from '@claimcheck/server/features/audit-trail/examine'
import { exportLines } from '@claimcheck/server/features/audit-trail/export'
import { createAuditRetention, cutOnce } from '@claimcheck/server/features/audit-trail/retention'
import type { AuditFilter, NewAuditEntry } from '@claimcheck/server/storage/audit-trail'
import type { OpenedStorage } from '@claimcheck/server/storage/pools'
import t, { type Test } from 'tap'
import { DIALECTS, newDatabase, opened } from '../../support/databases.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const DAY_MS = 24 * 60 * 60_000
const ANN = byUser('usr_ann', '192.0.2.1')

type Told = Omit<NewAuditEntry, 'at' | 'by'> & Partial<Pick<NewAuditEntry, 'at' | 'by'>>

function tell(storage: OpenedStorage, ...entries: readonly Told[]): Promise<void> {
  return storage.write(async (tx) => {
    for (const entry of entries) tx.audit.record({ at: NOON, by: ANN, ...entry })
  })
}

async function listed(storage: OpenedStorage, filter: AuditFilter, beyond?: number, limit = 100) {
  const place = { order: 'newest first', limit, ...(beyond === undefined ? {} : { beyond }) } as const
  return (await storage.read.audit.list(filter, place)).map(({ position }) => position)
}

async function exported(storage: OpenedStorage, filter: AuditFilter = { scope: 'everything' }): Promise<string[]> {
  let text = ''
  for await (const lines of exportLines(storage.read, filter)) text += lines
  return text.split('\n').filter(Boolean)
}

async function* each(lines: readonly string[]): AsyncGenerator<string, void> {
  yield* lines
}

async function problemsOf({ read }: OpenedStorage): Promise<readonly string[]> {
  const problems = createProblems()
  await examineAuditTrail({ read, problems })
  return problems.list
}

/** Past the guards of the tables. */
async function damage(storage: OpenedStorage, ...statements: readonly string[]): Promise<void> {
  await storage.transaction(async (db) => {
    if (db.dialect.begin === 'BEGIN') {
      await db.query('ALTER TABLE audit_trail DISABLE TRIGGER ALL')
    } else {
      for (const name of ['update', 'delete']) await db.query(`DROP TRIGGER IF EXISTS audit_trail_no_${name}`)
    }
    for (const sql of statements) await db.query(sql)
  })
}

async function people(storage: OpenedStorage): Promise<void> {
  await storage.write(async (tx) => {
    for (const id of ['ws_1', 'ws_2']) await tx.workspaces.insert({ id, name: id, createdAt: NOON })
    for (const name of ['ann', 'bob']) {
      const user = { id: `usr_${name}`, email: `${name}@example.com`, name, passwordHash: null, createdAt: NOON }
      await tx.users.insert(user)
      const member = {
        id: `mem_${name}`,
        workspaceId: 'ws_1',
        userId: user.id,
        role: 'owner',
        createdAt: NOON,
      } as const
      await tx.members.insert(member)
    }
  })
}

for (const dialect of DIALECTS) {
  const open = async (t: Test) => opened(t, await newDatabase(t, dialect))

  t.test(`on ${dialect}: a workspace sees its entries, and those on its members since they joined`, async (t) => {
    const storage = await open(t)
    await people(storage)
    await tell(
      storage,
      { event: 'sign_in.succeeded', userId: 'usr_bob', at: NOON - 1 },
      { event: 'key.created', workspaceId: 'ws_1', subject: 'key_1', details: { name: 'Büro 100%' } },
      { event: 'key.created', workspaceId: 'ws_2', userId: 'usr_bob' },
      {
        event: 'sign_in.failed',
        userId: 'usr_bob',
        at: NOON + 1,
        by: { actor: { kind: 'nobody', id: null }, address: '::1' },
      },
      { event: 'sign_in.succeeded', userId: 'usr_else', at: NOON + 1 },
      { event: 'member.invited', workspaceId: 'ws_1', at: NOON + 2 },
    )
    const ofWorkspace = { scope: { workspaceId: 'ws_1' } } as const
    t.strictSame(await listed(storage, ofWorkspace), [6, 4, 2])
    t.strictSame(await listed(storage, { scope: { workspaceId: 'ws_2' } }), [3])
    t.strictSame(
      await listed(storage, { scope: { userId: 'usr_bob' } }),
      [4, 1],
      'of an account: nothing of workspaces',
    )
    t.strictSame(await listed(storage, { scope: 'everything' }), [6, 5, 4, 3, 2, 1])

    t.strictSame(await listed(storage, ofWorkspace, undefined, 2), [6, 4])
    t.strictSame(await listed(storage, ofWorkspace, 4), [2], 'pages go on by position')
    t.strictSame(await listed(storage, { ...ofWorkspace, events: ['key.created', 'member.invited'] }), [6, 2])
    t.strictSame(await listed(storage, { ...ofWorkspace, actor: { kind: 'nobody' } }), [4])
    t.strictSame(await listed(storage, { ...ofWorkspace, actor: { kind: 'user', id: 'usr_ann' } }), [6, 2])
    t.strictSame(await listed(storage, { ...ofWorkspace, since: NOON + 1, until: NOON + 2 }), [4])
    t.strictSame(await listed(storage, { ...ofWorkspace, search: 'KEY_1' }), [2])
    t.strictSame(await listed(storage, { ...ofWorkspace, search: '100%' }), [2], 'wildcards mean themselves')
    t.strictSame(await listed(storage, { ...ofWorkspace, search: '1_0%' }), [])
    t.strictSame(await listed(storage, { ...ofWorkspace, search: 'bob', searchedUsers: ['usr_bob'] }), [4])

    await storage.write((tx) => tx.members.remove('mem_bob'))
    t.strictSame(await listed(storage, ofWorkspace), [6, 2], 'whose account it is nobody here may see any more')
  })

  t.test(`on ${dialect}: an export is checked by itself, and whatever is changed in it is found`, async (t) => {
    const storage = await open(t)
    await people(storage)
    const entries = Array.from({ length: 1100 }, (_, index) => ({
      event: 'key.created' as const,
      workspaceId: index % 3 === 0 ? 'ws_1' : 'ws_2',
      subject: `key_${index}`,
      details: { name: 'ünïcödé 😀 "quotes"', count: index, isNew: true, none: null },
    }))
    await tell(storage, ...entries)
    const lines = await exported(storage)
    const whole = await checkLines(each(lines))
    const ends = (await storage.read.audit.ends())!
    const lastHash = Buffer.from(ends.lastHash).toString('hex')
    t.strictSame(whole, { ok: true, entries: 1100, first: 1, last: 1100, lastHash, gaps: 0, problem: null })
    t.match(JSON.parse(lines[0]!), { position: 1, at: '2026-09-25T12:00:00.000Z', previous_hash: '0'.repeat(64) })

    const some: FileEntry[] = []
    const ofOne = await exported(storage, { scope: { workspaceId: 'ws_1' } })
    t.match(await checkLines(each(ofOne), (entry) => void some.push(entry)), { ok: true, entries: 367, gaps: 366 })
    t.equal((await storage.read.audit.hashesOf(some.map(({ position }) => position))).size, 367)

    const changed = (index: number, change: (line: string) => string) => lines.with(index, change(lines[index]!))
    const wrong: [string, readonly string[], RegExp][] = [
      [
        'a changed detail',
        changed(4, (line) => line.replace('"count":4', '"count":5')),
        /^line 5: position 5: its hash/,
      ],
      ['an added member', changed(4, (line) => line.replace('{', '{"more":1,')), /^line 5: position 5: its hash/],
      ['another hash', changed(4, (line) => line.replace(/"hash":"./, '"hash":"g')), /^line 5: it lacks a hash/],
      ['two places exchanged', [lines[1]!, lines[0]!], /^line 2, position 1: it does not follow 2/],
      ['no JSON', ['nonsense'], /^line 1: it is not a JSON object/],
      ['an array', ['[]'], /^line 1: it is not a JSON object/],
      ['no position', ['{}'], /^line 1: it has no position/],
      ['the same member twice', changed(0, (line) => line.replace('{', '{"position":1,')), /^line 1: it is not a JSON/],
    ]
    for (const [what, file, problem] of wrong) t.match(await checkLines(each(file)), { ok: false, problem }, what)
    t.match(await checkLines(each(lines.toSpliced(4, 1))), { ok: true, gaps: 1 }, 'a line that is gone leaves a gap')
    t.match(await checkLines(each([])), { ok: true, entries: 0, first: null, lastHash: null })

    // Whoever rewrites an entry with its hash breaks the next one.
    const rewritten = await checkLines(each([...lines.slice(0, 1), ...(await other(t)).slice(1, 2)]))
    t.match(rewritten, { ok: false, problem: 'line 2, position 2: it does not hold the hash of the entry before it' })
  })

  async function other(t: Test): Promise<string[]> {
    const storage = await open(t)
    await tell(storage, { event: 'key.revoked' }, { event: 'key.revoked' })
    return exported(storage)
  }

  t.test(`on ${dialect}: what is too old goes, and the rest of the chain stands on the entry of the cut`, async (t) => {
    const storage = await open(t)
    const at = (day: number) => ({ event: 'key.created', at: NOON + day * DAY_MS }) as const
    await tell(storage, at(0), at(1), at(2), at(9), at(1), at(10))
    const whole = await exported(storage)
    const now = NOON + 10 * DAY_MS
    t.equal(await cutOnce(storage, 5, now, 2), true, 'at most so many at once')
    t.equal(await cutOnce(storage, 5, now, 2), true)
    t.equal(await cutOnce(storage, 5, now, 2), false)
    // The entry of day 1 stands behind one that is kept.
    t.strictSame(await listed(storage, { scope: 'everything' }), [8, 7, 6, 5, 4])
    const [newest] = await storage.read.audit.list({ scope: 'everything' }, { order: 'newest first', limit: 1 })
    const { hash } = JSON.parse(whole[2]!)
    t.match(newest, {
      event: 'audit_trail.cut',
      actorKind: 'service',
      details: { from: 3, through: 3, through_hash: hash, retention_days: 5, before: '2026-09-30T12:00:00.000Z' },
    })
    t.strictSame(await problemsOf(storage), [])
    const rest = await exported(storage)
    t.match(await checkLines(each(rest)), { ok: true, entries: 5, first: 4, gaps: 0 })
    t.equal(rest[0], whole[3], 'what stays is what it was')

    t.equal(await cutOnce(storage, 1, now + 100 * DAY_MS), true, 'also all of it')
    t.strictSame(await listed(storage, { scope: 'everything' }), [9])
    t.strictSame(await problemsOf(storage), [])
    t.equal(await cutOnce(storage, 1, now + 100 * DAY_MS), false)
  })

  t.test(`on ${dialect}: the doctor names the first position that is wrong`, async (t) => {
    const damages: [what: string, statements: string[], problem: RegExp | undefined][] = [
      ['nothing', [], undefined],
      ['a changed entry', [`UPDATE audit_trail SET subject = 'other' WHERE position = 3`], /^audit_trail 3: its hash/],
      ['a missing entry', ['DELETE FROM audit_trail WHERE position = 3'], /^audit_trail 3: the entry is missing/],
      ['a missing end', ['DELETE FROM audit_trail WHERE position = 5'], /^audit_trail 5: the entry is missing/],
      [
        'a missing beginning',
        [
          'UPDATE audit_trail_head SET first_position = 3, before_hash = (SELECT hash FROM audit_trail WHERE position = 2)',
          'DELETE FROM audit_trail WHERE position < 3',
        ],
        /^audit_trail 3: the entries before it are missing, and no entry tells/,
      ],
      [
        'an end that is cut off',
        ['UPDATE audit_trail_head SET last_position = 4'],
        /^audit_trail 4: audit_trail_head has another hash/,
      ],
      [
        'an end that the head does not know',
        [
          'UPDATE audit_trail_head SET last_position = 4, last_hash = (SELECT hash FROM audit_trail WHERE position = 4)',
        ],
        /^audit_trail 5: audit_trail_head does not know the entry/,
      ],
      [
        'no head',
        ['DELETE FROM audit_trail_head'],
        /^audit_trail 1: there are entries, and audit_trail_head has no row/,
      ],
      [
        'details that are no JSON',
        [`UPDATE audit_trail SET details = 'x' WHERE position = 2`],
        /^audit_trail 2: its details are not JSON/,
      ],
    ]
    for (const [what, statements, problem] of damages) {
      const storage = await open(t)
      t.strictSame(await problemsOf(storage), [], 'an empty one is sound')
      for (let number = 1; number <= 5; number++)
        await tell(storage, { event: 'key.created', subject: `key_${number}` })
      await damage(storage, ...statements)
      const found = await problemsOf(storage)
      if (problem === undefined) t.strictSame(found, [], what)
      else t.match(found, [problem], what)
      t.ok(found.length <= 1, 'the first alone')
    }
  })
}

t.test('writers that hold rows of each other wait, and never for each other at the end of the chain', async (t) => {
  const url = await newDatabase(t, 'postgres')
  const hosts = [await opened(t, url), await opened(t, url)]
  await people(hosts[0]!)
  const writers = Array.from({ length: 40 }, (_, number) =>
    hosts[number % 2]!.write(async (tx) => {
      tx.audit.record({ event: 'account.renamed', at: NOON, by: ANN, subject: `writer ${number}` })
      await tx.users.lock(number % 4 < 2 ? 'usr_ann' : 'usr_bob')
      await tx.users.setName(number % 4 < 2 ? 'usr_ann' : 'usr_bob', `name ${number}`)
    }),
  )
  const outcomes = await Promise.allSettled(writers)
  t.strictSame(
    outcomes.filter(({ status }) => status === 'rejected'),
    [],
  )
  t.match(await hosts[1]!.read.audit.ends(), { first: 1, last: 40 })
  t.strictSame(await problemsOf(hosts[0]!), [])
})

t.test('one host at a time removes what is too old, and none does where nothing is configured', async (t) => {
  const storage = await opened(t, await newDatabase(t, 'sqlite'))
  await tell(storage, { event: 'key.created' }, { event: 'key.revoked', at: NOON + DAY_MS })
  const parts = {
    storage,
    now: () => NOON + 3 * DAY_MS,
    logger: { error: (problem: object) => t.fail(String(problem)) },
  }
  for (const [retentionDays, kept] of [
    [null, [2, 1]],
    [2, [3, 2]],
  ] as const) {
    const workers = [1, 2].map(() => createAuditRetention({ ...parts, config: { auditTrail: { retentionDays } } }))
    for (const worker of workers) worker.start()
    const isDone = async () => (await listed(storage, { scope: 'everything' })).join() === kept.join()
    for (let turn = 0; turn < 100 && !(await isDone()); turn++) await setTimeout(20)
    await Promise.all(workers.map((worker) => worker.stop()))
    t.strictSame(await listed(storage, { scope: 'everything' }), kept)
  }
})
