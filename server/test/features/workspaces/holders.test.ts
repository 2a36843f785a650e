/** Whose a bound agent is: pseudonyms that tell workspaces apart, and domains that DNS shows. Threat A9 of `security.md`. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { byUser } from '@claimcheck/server/base/actor'
import { openSecrets } from '@claimcheck/server/base/secrets'
import { createDomainWorker, createHolders } from '@claimcheck/server/features/workspaces/holders'
import { createOutbound } from '@claimcheck/server/outbound/outbound'
import t, { type Test } from 'tap'
import { createDatabase, DIALECTS, type Dialect } from '../../../../test/support/database.ts'
import { startNameServer } from '../../../../test/support/name-server.ts'
import { openStorage } from '../../../../test/support/storage.ts'
import { NOON, openFirst } from '../people/people.ts'

const HOUR_MS = 60 * 60_000
const FOLDER = t.testdir()
let databases = 0

async function openHolders(t: Test, dialect: Dialect = 'sqlite') {
  const database = await createDatabase(dialect)
  t.teardown(() => database.remove())
  const folder = join(FOLDER, String(++databases))
  mkdirSync(folder)
  const url = dialect === 'sqlite' ? `sqlite:${join(folder, 'claimcheck.db')}` : database.env.DATABASE_URL!
  const people = await openFirst(t, { storage: await openStorage({ databaseUrl: url }) })
  const { storage, clock, secrets, userId } = people
  const names = await startNameServer(t)
  const outbound = createOutbound({ allowPrivate: [] }, { nameServers: [names.address] })
  t.teardown(() => outbound.close())
  const warnings: string[] = []
  const logger = {
    warn: (_: unknown, text: string) => void warnings.push(text),
    error: (_: unknown, text: string) => void warnings.push(text),
  } as never
  const ownAddress = { origin: () => 'https://claims.example.org' }
  const options = { storage, outbound, ownAddress, now: () => clock.now, logger }
  const open = (key = secrets) => createHolders({ ...options, secrets: key })
  const round = async () => {
    const { length } = names.asked
    const worker = createDomainWorker(options, 5)
    worker.start()
    await new Promise((done) => setTimeout(done, 100))
    await worker.stop()
    return names.asked.length - length
  }
  const other = (await people.members.createWorkspace(userId, 'other')).id
  return { ...people, people, holders: open(), open, names, warnings, round, other, folder, by: byUser(userId, '::1') }
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect} a pseudonym is of one agent in one workspace, for ever`, async (t) => {
    const { people, holders, open, workspaceId, other, by } = await openHolders(t, dialect)
    const all = [workspaceId, other].flatMap((id) => ['bot', 'Bot', 'bot ', 'b'].map((agent) => [id, agent] as const))
    const names = await Promise.all(all.map(([id, agent]) => holders.namesOf(id, agent)))
    for (const { pseudonym, domain } of names) {
      t.match(pseudonym, /^[A-Za-z0-9_-]{43}$/)
      t.equal(domain, undefined)
    }
    t.equal(new Set(names.map(({ pseudonym }) => pseudonym)).size, all.length, 'nothing links two agents')

    const [{ pseudonym } = {}] = names
    await people.workspaces.rename(workspaceId, 'renamed', by)
    t.equal((await open().namesOf(workspaceId, 'bot')).pseudonym, pseudonym)
    await people.workspaces.delete(workspaceId, by)
    t.equal((await open().namesOf(workspaceId, 'bot')).pseudonym, pseudonym, 'of claims that wait when it is deleted')
    const { id } = await people.members.createWorkspace(people.userId, 'renamed', by)
    t.not((await holders.namesOf(id, 'bot')).pseudonym, pseudonym, 'and of no workspace that takes its name')
  })
}

t.test('hosts that name an agent at once, for the first time, give it one pseudonym', async (t) => {
  const { open, workspaceId } = await openHolders(t, DIALECTS.at(-1))
  const hosts = Array.from({ length: 8 }, () => open())
  const names = await Promise.all(hosts.map((host) => host.namesOf(workspaceId, 'bot')))
  t.equal(new Set(names.map(({ pseudonym }) => pseudonym)).size, 1)
})

t.test('claims that are decided at the same time share one read, and open the key once', async (t) => {
  const { open, secrets, storage, holders, workspaceId, other } = await openHolders(t)
  const opened = { keys: 0 }
  const reads: string[] = []
  const counting = {
    seal: secrets.seal,
    open: (...sealed: Parameters<typeof secrets.open>) => {
      opened.keys++
      return secrets.open(...sealed)
    },
  }
  for (const id of [workspaceId, other]) await holders.namesOf(id, 'bot')
  const { ofAll } = storage.read.holders
  storage.read.holders.ofAll = async (ids) => {
    reads.push(ids.join())
    return ofAll(ids)
  }
  const host = open(counting as never)
  const agents = Array.from({ length: 60 }, (_, index) => [index % 2 ? workspaceId : other, `bot ${index}`] as const)
  const names = await Promise.all(agents.map(([id, agent]) => host.namesOf(id, agent)))
  t.strictSame(names, await Promise.all(agents.map(([id, agent]) => holders.namesOf(id, agent))))
  t.equal(reads.length, 2, 'one of each host')
  t.equal(opened.keys, 2)
})

t.test('a lost secret key leaves the pseudonym out, and gives nobody another one', async (t) => {
  const { holders, open, workspaceId, warnings, folder } = await openHolders(t)
  const { pseudonym } = await holders.namesOf(workspaceId, 'bot')
  const lost = openSecrets({ secretKey: Buffer.alloc(32, 9), dataDir: folder })
  t.strictSame(await open(lost).namesOf(workspaceId, 'bot'), {})
  t.strictSame(await holders.pseudonymsOf(workspaceId, ['bot']), [pseudonym], 'owners see the same')
  t.strictSame(warnings, ['bound agents have no pseudonyms'])
  t.equal((await holders.namesOf(workspaceId, 'bot')).pseudonym, pseudonym)
})

t.test('a domain is named while DNS shows the challenge of this workspace', async (t) => {
  const { holders, names, workspaceId, other, storage, by, workspaces } = await openHolders(t)
  const domainOf = async (id: string) => (await holders.namesOf(id, 'bot')).domain
  await holders.setDomain(workspaceId, ' Acme.COM. ', by)
  const named = (await holders.domainOf(workspaceId))!
  t.match(named, { domain: 'acme.com', record: { name: '_claimcheck.acme.com' }, isProven: false, checkedAt: NOON })
  t.match(named.record.value, /^claimcheck=claims\.example\.org\/[A-Za-z0-9_-]{43}$/)
  t.equal(await domainOf(workspaceId), undefined)

  const at = '_claimcheck.acme.com'
  const { value } = named.record
  for (const texts of [[], [`${value}x`], [value.slice(0, -1)], [value.toUpperCase()], ['claimcheck='], ['']]) {
    names.records.set(at, texts)
    await holders.setDomain(workspaceId, 'acme.com', by)
    t.equal(await domainOf(workspaceId), undefined, JSON.stringify(texts))
  }
  names.records.set('acme.com', [value])
  names.records.delete(at)
  await holders.setDomain(workspaceId, 'acme.com', by)
  t.equal(await domainOf(workspaceId), undefined, 'only below the domain')

  names.records.set(at, ['v=spf1 -all', value])
  await holders.setDomain(workspaceId, 'acme.com', by)
  t.equal(await domainOf(workspaceId), 'acme.com')
  t.equal((await holders.domainOf(workspaceId))!.record.value, value, 'looking again keeps the challenge')

  await holders.setDomain(other, 'acme.com', by)
  t.equal(await domainOf(other), undefined, 'what one workspace proved counts for no other')
  await holders.setDomain(workspaceId, 'shop.acme.com', by)
  t.equal(await domainOf(workspaceId), undefined, 'nor for a name below it')
  await holders.setDomain(workspaceId, 'acme.com', by)
  t.equal(await domainOf(workspaceId), undefined, 'and a domain that comes back has a new challenge')
  names.records.set(at, [value, (await holders.domainOf(workspaceId))!.record.value])
  await holders.setDomain(workspaceId, 'acme.com', by)
  t.equal(await domainOf(workspaceId), 'acme.com')

  await holders.setDomain(workspaceId, '', by)
  t.equal(await domainOf(workspaceId), undefined)
  t.equal(await holders.domainOf(workspaceId), undefined)
  const events = (await storage.read.audit.after(0, 1000)).filter(({ event }) => event.startsWith('workspace.domain'))
  t.strictSame(
    events.map(({ event, workspaceId: id, details }) => [event, id === other ? 'other' : 'acme', details]),
    [
      ['workspace.domain_changed', 'acme', { from: null, to: 'acme.com' }],
      ['workspace.domain_proven', 'acme', { domain: 'acme.com' }],
      ['workspace.domain_changed', 'other', { from: null, to: 'acme.com' }],
      ['workspace.domain_changed', 'acme', { from: 'acme.com', to: 'shop.acme.com' }],
      ['workspace.domain_changed', 'acme', { from: 'shop.acme.com', to: 'acme.com' }],
      ['workspace.domain_proven', 'acme', { domain: 'acme.com' }],
      ['workspace.domain_changed', 'acme', { from: 'acme.com', to: null }],
    ],
  )
  await workspaces.delete(other, by)
  t.equal(await holders.domainOf(other), undefined, 'a deleted workspace has none')
})

t.test('a domain that DNS does not show any more is not named, and one that does not answer for a day', async (t) => {
  const { holders, names, workspaceId, clock, round, storage, by } = await openHolders(t)
  const at = '_claimcheck.acme.com'
  const isNamed = async () => (await holders.namesOf(workspaceId, 'bot')).domain === 'acme.com'
  await holders.setDomain(workspaceId, 'acme.com', by)
  const { value } = (await holders.domainOf(workspaceId))!.record
  t.equal(await round(), 0, 'one that was never shown is looked up when an owner asks')
  names.records.set(at, [value])
  await holders.setDomain(workspaceId, 'acme.com', by)

  t.equal(await round(), 0, 'not before an hour has passed')
  clock.now += HOUR_MS
  t.equal(await round(), 1)
  t.ok(await isNamed())

  names.records.set(at, 'failing')
  clock.now += 23 * HOUR_MS
  t.ok((await round()) > 0)
  t.ok(await isNamed(), 'no answer takes nothing away')
  clock.now += HOUR_MS
  await round()
  t.notOk(await isNamed(), 'for a day')
  names.records.set(at, [value])
  clock.now += HOUR_MS
  await round()
  t.ok(await isNamed())

  names.records.set(at, ['of a new owner'])
  clock.now += HOUR_MS
  await round()
  t.notOk(await isNamed(), 'another answer does at once')
  names.records.set(at, 'failing')
  clock.now += HOUR_MS
  await round()
  t.notOk(await isNamed())
  names.records.set(at, [value])
  clock.now += HOUR_MS
  await round()
  t.ok(await isNamed(), 'and it comes back with its record')
  names.records.delete(at)
  clock.now += 8 * 24 * HOUR_MS
  t.equal(await round(), 0, 'after a week nobody looks')
  t.notOk(await isNamed())
  const events = (await storage.read.audit.after(0, 1000)).map(({ event, actorKind }) => `${event} by ${actorKind}`)
  t.strictSame(events.slice(-3), [
    'workspace.domain_proven by user',
    'workspace.domain_lost by service',
    'workspace.domain_proven by service',
  ])
})

t.test('only a name that is public, and looks like no other, is taken for a domain', async (t) => {
  const { holders, workspaceId, by, names } = await openHolders(t)
  const refused = [
    'localhost',
    'acme',
    'acme.local',
    'db.internal',
    'acme.test',
    'x.onion',
    'a.example',
    '127.0.0.1',
    '::1',
    '2130706433',
  ]
  refused.push(
    'https://acme.com',
    'acme.com/x',
    'acme.com:443',
    '*.acme.com',
    '_claimcheck.acme.com',
    '-a.com',
    'a b.com',
  )
  refused.push(
    '1.0.0.127.in-addr.arpa',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(120)}com`,
    '.com',
    'a..com',
    'acme.com\u0000',
  )
  for (const text of refused)
    await t.rejects(holders.setDomain(workspaceId, text, by), { code: 'bad_request' }, JSON.stringify(text))
  t.equal(await holders.domainOf(workspaceId), undefined)
  t.strictSame(names.asked, [])
  await holders.setDomain(workspaceId, 'аcme.com', by)
  t.equal((await holders.domainOf(workspaceId))!.domain, 'xn--cme-5cd.com', 'a Cyrillic letter is not hidden')
  await t.rejects(holders.setDomain('ws_none', 'acme.com', by))
})
