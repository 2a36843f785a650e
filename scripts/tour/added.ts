/** The tour's stops at destinations whose packages an operator adds: real servers where this machine has them, stand-ins else. */
import { createHash } from 'node:crypto'
import { textFingerprint } from '@claimcheck/core/receipts'
import pg from 'pg'
import { iCalendar } from '../../plugins/calendar/test/calendars.ts'
import { OWNER, PASSWORD as OWNER_PASSWORD } from '../../plugins/calendar/test/traps/caldav-server.ts'
import { radicaleProblem, startRadicale } from '../../plugins/calendar/test/traps/radicale.ts'
import { MATTERMOST_CHANNEL, Platforms, TOKEN } from '../../plugins/chat/test/platforms.ts'
import { DockerRegistry, imageOf } from '../../plugins/container/test/docker-registry.ts'
import { optionsOf, paramsOf, PASSWORD as READER_PASSWORD } from '../../plugins/database/test/look.ts'
import {
  TOKEN as DEPLOY_TOKEN,
  DIGEST,
  NAME,
  NAMESPACE,
  Places,
  PROJECT,
  REPOSITORY,
  TEAM,
  TEAM_ID,
} from '../../plugins/deploy/test/places.ts'
import { fingerprintOf, KEY } from '../../plugins/mail/test/fingerprints.ts'
import { REGION, S3 } from '../../plugins/objects/test/s3.ts'
import { SECRET, Trackers } from '../../plugins/tickets/test/trackers.ts'
import { callRpc } from '../../test/chain/json-rpc.ts'
import { startNode } from '../../test/chain/node.ts'
import type { Authority } from '../../test/destinations/certificates.ts'
import { dovecotProblem, fileSent, SENT, startDovecot } from '../../test/support/dovecot.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import { findProgram } from '../../test/support/programs.ts'
import type { Stop } from './stop.ts'

const PASSWORD = 'password-of-the-tour'

/** Starts the destinations, and says of those that cannot be here why they are left out. */
export async function addedStops(
  authority: Authority,
): Promise<{ readonly stops: Stop[]; readonly leftOut: string[] }> {
  const registry = findProgram('docker-registry')
  const ofThisMachine = [
    ['Images', registry ? undefined : 'docker-registry is not installed', () => imageStop(registry!)],
    ['Mail', dovecotProblem(), () => mailStop(authority)],
    ['CalDAV', radicaleProblem(), calendarStop],
  ] as const
  const stops: Stop[] = []
  for (const start of [chainStop, databaseStop, objectStop, chatStop, ticketStop, clusterStop, vercelStop])
    stops.push(await start())
  for (const [, problem, start] of ofThisMachine) if (problem === undefined) stops.push(await start())
  const missing = ofThisMachine.flatMap(([what, problem]) =>
    problem === undefined ? [] : [`${what} is left out: ${problem}.`],
  )
  return { stops, leftOut: [ELSEWHERE, ...missing] }
}

const ELSEWHERE =
  'Slack, Discord, Google Calendar, Linear and Stripe are left out: each has one address, which nothing here can have.'

const set = (options: Readonly<Record<string, string>>) => [
  '--set',
  ...Object.entries(options).map((pair) => pair.join('=')),
]

/** Two epochs, after which a block is final. */
const FINALITY = 4

async function chainStop(): Promise<Stop> {
  const node = await startNode({ chainId: 31337, finalityDepth: FINALITY })
  const rpc = (method: string, ...params: readonly unknown[]) => callRpc(node.url, method, params)
  const [sender] = await rpc('eth_accounts')
  const recipient = `0x${'4e'.repeat(20)}`
  const hash = await rpc('eth_sendTransaction', { from: sender, to: recipient, value: '0x5' })
  await rpc('anvil_mine', '0x10')
  const claim = { action: 'chain.transaction.confirm', target: 'eip155:31337' }
  return {
    place: 'An EVM chain, anvil',
    plugin: '@claimcheck/plugin-chain',
    allowPrivate: new URL(node.url).host,
    connect: ['evm', ...set({ base_url: node.url, chain_id: '31337' })],
    claims: [
      { ...claim, params: { hash, sender, nonce: 0, recipient, value: '5' } },
      { ...claim, params: { hash, recipient, value: '6' }, verdict: 'mismatch' },
    ],
    close: () => node.stop(),
  }
}

async function databaseStop(): Promise<Stop> {
  const server = await startPostgres({ fsync: false })
  await server.configure(['track_commit_timestamp = on'])
  const admin = new pg.Client(server.url)
  await admin.connect()
  await admin.query(`CREATE ROLE reader LOGIN PASSWORD '${READER_PASSWORD}'; CREATE TABLE orders (id int PRIMARY KEY, state text);
    INSERT INTO orders VALUES (7, 'closed'); GRANT SELECT ON orders TO reader`)
  const { host, port } = new URL(server.url)
  const options = optionsOf({ provider: 'postgres', port: Number(port), database: 'postgres' })
  const table = 'public.orders'
  return {
    place: 'A database, PostgreSQL',
    plugin: '@claimcheck/plugin-database',
    allowPrivate: host,
    connect: ['postgres', ...set(options)],
    claims: [
      {
        action: 'database.row.exists',
        target: `${options.name}/${table}`,
        params: paramsOf(`${options.name}/${table}`, { id: '7' }, { state: 'closed' }),
      },
    ],
    async close() {
      await admin.end()
      await server.remove()
    },
  }
}

async function objectStop(): Promise<Stop> {
  const s3 = new S3('acme-backups', { now: Date.now, secrets: { READER: PASSWORD } })
  s3.versioning = 'Enabled'
  const content = 'the report'
  const version_id = s3.put('report.csv', { content, at: Date.now(), withChecksum: true })
  const server = await s3.start()
  const keys = { region: REGION, access_key_id: 'READER', secret_access_key: PASSWORD }
  const claim = { action: 'storage.object.put', target: 'acme-backups/report.csv' }
  return {
    place: 'Amazon S3, by a stand-in',
    plugin: '@claimcheck/plugin-objects',
    allowPrivate: new URL(server.url).host,
    connect: ['s3', ...set({ base_url: server.url, ...keys })],
    claims: [
      { ...claim, params: { version_id, sha256: createHash('sha256').update(content).digest('hex') } },
      { ...claim, params: { version_id, sha256: 'a'.repeat(64) }, verdict: 'mismatch' },
    ],
    close: () => server.stop(),
  }
}

async function chatStop(): Promise<Stop> {
  const platforms = new Platforms(Date.now)
  const message = 'p9u6q8h1rtb7tn8f8gmh3dq4ph'
  const text = 'Build 42 is green'
  platforms.mattermost = [{ id: message, message: text, create_at: Date.now() }]
  const server = await platforms.start()
  const { host } = new URL(server.url)
  const claim = { action: 'chat.message.post', target: `mattermost:${host}/${MATTERMOST_CHANNEL}` }
  return {
    place: 'Mattermost, by a stand-in',
    plugin: '@claimcheck/plugin-chat',
    allowPrivate: host,
    connect: ['mattermost', ...set({ base_url: server.url, token: TOKEN })],
    claims: [{ ...claim, params: { message, text_fingerprint: textFingerprint(text) } }],
    close: async () => server.stop(),
  }
}

async function ticketStop(): Promise<Stop> {
  const now = Date.now()
  const trackers = new Trackers(Date.now)
  trackers.createdAt = now - 60_000
  trackers.move(now, 'done')
  const server = await trackers.start()
  const { host } = new URL(server.url)
  return {
    place: 'Redmine, by a stand-in',
    plugin: '@claimcheck/plugin-tickets',
    allowPrivate: host,
    connect: ['redmine', ...set({ base_url: server.url, api_key: SECRET })],
    claims: [{ action: 'tracker.issue.transition', target: `redmine:${host}/1`, params: { category: 'done' } }],
    close: async () => server.stop(),
  }
}

async function clusterStop(): Promise<Stop> {
  const places = new Places(Date.now)
  const made = { image: `${REPOSITORY}@${DIGEST}`, createdAt: Date.now() - 60_000 }
  places.workload = { uid: 'uid-1', ...made, completedAt: Date.now() }
  places.sets = [{ uid: 'set-1', revision: 1, ...made }]
  places.pods = [1, 2].map(() => ({ owner: 'set-1', imageID: made.image }))
  const server = await places.start()
  return {
    place: 'Kubernetes, by a stand-in',
    plugin: '@claimcheck/plugin-deploy',
    allowPrivate: new URL(server.url).host,
    connect: [
      'kubernetes',
      '--try',
      `${NAMESPACE}/deployment/${NAME}`,
      ...set({ base_url: server.url, cluster: 'production', token: DEPLOY_TOKEN }),
    ],
    claims: [
      {
        action: 'deploy.revision.live',
        target: `kubernetes:production/${NAMESPACE}/deployment/${NAME}`,
        params: { image_digest: DIGEST },
      },
    ],
    close: async () => server.stop(),
  }
}

async function vercelStop(): Promise<Stop> {
  const places = new Places(Date.now)
  const deployment = { id: 'dpl_tour', createdAt: Date.now() - 60_000 }
  places.deployments = [deployment]
  places.alias = { deploymentId: deployment.id, updatedAt: Date.now() }
  const server = await places.start()
  return {
    place: 'Vercel, by a stand-in',
    plugin: '@claimcheck/plugin-deploy',
    allowPrivate: new URL(server.url).host,
    connect: ['vercel', ...set({ base_url: server.url, token: DEPLOY_TOKEN, team_id: TEAM_ID })],
    claims: [
      { action: 'deploy.revision.live', target: `vercel:${TEAM}/${PROJECT}`, params: { deployment: deployment.id } },
    ],
    close: async () => server.stop(),
  }
}

async function calendarStop(): Promise<Stop> {
  const radicale = await startRadicale()
  const authorization = `Basic ${btoa(`${OWNER}:${OWNER_PASSWORD}`)}`
  const headers = { authorization, 'content-type': 'text/calendar' }
  const path = `/${OWNER}/work`
  const uid = '5f0c9b1e-2c1c-4c0a-9d5b-7b6c1f3a2d10'
  const event = { UID: uid, DTSTART: '20261201T090000Z', DTEND: '20261201T100000Z' }
  await fetch(`${radicale.url}${path}/`, { method: 'MKCALENDAR', headers })
  await fetch(`${radicale.url}${path}/a1.ics`, { method: 'PUT', headers, body: iCalendar(event) })
  const { host } = new URL(radicale.url)
  return {
    place: 'A calendar, at Radicale',
    plugin: '@claimcheck/plugin-calendar',
    allowPrivate: host,
    connect: ['caldav', '--try', path, ...set({ base_url: radicale.url, username: OWNER, password: OWNER_PASSWORD })],
    claims: [
      {
        action: 'calendar.event.create',
        target: `caldav:${host}${path}`,
        params: { uid, start: '2026-12-01T10:00:00+01:00' },
      },
    ],
    close: () => radicale.stop(),
  }
}

async function imageStop(program: string): Promise<Stop> {
  const registry = await DockerRegistry.start(program, { now: Date.now })
  const image = imageOf('of the tour')
  await registry.push('acme/api', '1.4.0', image)
  const { host } = new URL(registry.url)
  return {
    place: 'An image registry, Docker Registry',
    plugin: '@claimcheck/plugin-container',
    allowPrivate: host,
    connect: ['oci', ...set({ base_url: registry.url })],
    claims: [
      { action: 'container.image.push', target: `${host}/acme/api`, params: { tag: '1.4.0', digest: image.digest } },
    ],
    close: () => registry.close(),
  }
}

async function mailStop(authority: Authority): Promise<Stop> {
  const dovecot = await startDovecot({
    users: { ann: PASSWORD },
    messages: [],
    more: SENT,
    ...authority.issue(['localhost']),
  })
  const message_id = 'a1@agent.acme.example'
  const message = `Message-ID: <${message_id}>\r\nTo: Bob <bob@acme.example>\r\n\r\nIt is done.\r\n`
  await fileSent(dovecot, { user: 'ann', password: PASSWORD, message })
  const address = `localhost:${dovecot.ports.imaps}`
  const mailbox = 'agent@acme.example'
  const options = { mailbox, address: `tls://${address}`, user: 'ann', password: PASSWORD, fingerprint_key: KEY }
  return {
    place: 'A mailbox, at Dovecot',
    plugin: '@claimcheck/plugin-mail',
    allowPrivate: address,
    // The process of the commands began before the authority was there.
    connect: ['imap', '--untested', ...set(options)],
    claims: [
      {
        action: 'mail.message.send',
        target: mailbox,
        params: { message_id, to_fingerprint: [fingerprintOf('bob@acme.example')] },
      },
    ],
    close: () => dovecot.stop(),
  }
}
