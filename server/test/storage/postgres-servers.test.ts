// Test run: slow
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { mayReturn } from '@claimcheck/server/storage/postgres-servers'
import pg from 'pg'
import t, { type Test } from 'tap'
import { startPostgres } from '../../../test/support/postgres.ts'
import { findProgram } from '../../../test/support/programs.ts'
import { query } from '../../../test/support/sql.ts'
import { openStorage } from '../../../test/support/storage.ts'
import { newDatabase } from '../support/databases.ts'

const CLOSED = '127.0.0.1:1'

/** The same database by other hosts, and with these parameters. */
function changed(url: string, hosts: (host: string) => string, parameters: Readonly<Record<string, string>> = {}) {
  const { username, password, host, pathname } = new URL(url)
  return `postgres://${username}:${password}@${hosts(host)}${pathname}?${new URLSearchParams(parameters)}`
}

function withoutPassword(url: string, parameters: Readonly<Record<string, string>>): string {
  const { username, host, pathname } = new URL(url)
  return `postgres://${username}@${host}${pathname}?${new URLSearchParams(parameters)}`
}

async function opens(t: Test, databaseUrl: string, name: string): Promise<void> {
  const storage = await openStorage({ databaseUrl })
  await storage.close()
  t.pass(name)
}

t.test('of several hosts each connection takes the first that is what the URL asks for', async (t) => {
  const url = await newDatabase(t, 'postgres')
  const { host, password } = new URL(url)
  await opens(
    t,
    changed(url, (host) => `${CLOSED},${host}`),
    'the second answers',
  )
  await opens(
    t,
    changed(url, (host) => `${CLOSED},${host}`, { target_session_attrs: 'primary' }),
    'the primary',
  )
  await opens(
    t,
    changed(url, (host) => `${host},${CLOSED}`, { target_session_attrs: 'prefer-standby' }),
    'no standby',
  )

  const standby = openStorage({
    databaseUrl: changed(url, (host) => `${CLOSED},${host}`, { target_session_attrs: 'standby' }),
  })
  const error: Error & { mayReturn?: boolean } = await standby.then(t.fail, (error) => error)
  t.equal(
    error.message,
    `cannot open the database: ${CLOSED}: connect ECONNREFUSED ${CLOSED}; ${host}: it is a primary`,
    'each is named, with its answer',
  )
  t.ok(error.mayReturn, 'either may change')
  t.notMatch(error.message, password)

  await query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`)
  const readOnly = openStorage({ databaseUrl: changed(url, (host) => `${CLOSED},${host}`) })
  await t.rejects(readOnly, { message: `${host}: it is a primary, and read-only` })
})

t.test('a password is read from its file for each connection', async (t) => {
  const url = await newDatabase(t, 'postgres')
  const { hostname, port, pathname } = new URL(url)
  const role = `rotated_${process.pid}`
  await query(url, `CREATE ROLE ${role} SUPERUSER LOGIN PASSWORD 'one:\\'`)
  t.teardown(() => query(url, `DROP ROLE ${role}`))
  const folder = t.testdir({ password: 'one:\\\n', passfile: '' })
  const passfile = join(folder, 'passfile')
  const lines = (password: string) => `# hosts\nother:*:*:*:none\n${hostname}:${port}:*:${role}:${password}\n`
  writeFileSync(passfile, lines('one\\:\\\\'))
  const parameters = [{ password_file: join(folder, 'password') }, { passfile }]
  for (const parameter of parameters) {
    const own = withoutPassword(url, parameter).replace('//postgres@', `//${role}@`)
    const storage = await openStorage({ databaseUrl: own })
    await query(url, `ALTER ROLE ${role} PASSWORD 'two'`)
    await query(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`)
    writeFileSync(join(folder, 'password'), 'two\n')
    writeFileSync(passfile, lines('two'))
    // What was under way ended with its connection.
    await storage.read.log.state().catch(() => {})
    t.equal(await storage.read.log.state(), undefined)
    await storage.close()
    await query(url, `ALTER ROLE ${role} PASSWORD 'one:\\'`)
    writeFileSync(join(folder, 'password'), 'one:\\\n')
    writeFileSync(passfile, lines('one\\:\\\\'))
  }
  writeFileSync(join(folder, 'password'), '\n')
  const empty = openStorage({ databaseUrl: withoutPassword(url, parameters[0]!) })
  await t.rejects(empty, { message: /password file: .*password is empty/ })
  writeFileSync(passfile, 'other:*:*:*:none\n')
  const unknown = openStorage({ databaseUrl: withoutPassword(url, { passfile }) })
  const wanted = `${hostname}:${port}:${pathname.slice(1)}:postgres`
  await t.rejects(unknown, { message: `cannot open the database: passfile: no line is for ${wanted}` })
})

t.test('a connection that fails before its end is closed', async (t) => {
  const databaseUrl = withoutPassword(await newDatabase(t, 'postgres'), {})
  const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
  const before = sockets()
  await t.rejects(openStorage({ databaseUrl }), { message: /password must be a string/ })
  for (const end = Date.now() + 5_000; sockets() > before && Date.now() < end; ) await setTimeout(20)
  t.equal(sockets(), before)
})

const openssl = findProgram('openssl')

t.test('TLS with the meanings of libpq', { skip: openssl === undefined && 'openssl is not installed' }, async (t) => {
  const folder = t.testdir({})
  const authority = makeAuthority(folder, 'authority')
  const other = makeAuthority(folder, 'other')
  const server = await startPostgres({ fsync: false })
  t.teardown(() => server.remove())
  const ca = readFileSync(authority.certificate, 'utf8')
  const present = ({ certificate, key }: Pair) =>
    server.configure(['ssl = on', "ssl_ca_file = 'ca.crt'"], {
      'ca.crt': ca,
      'server.crt': readFileSync(certificate, 'utf8'),
      'server.key': readFileSync(key, 'utf8'),
      'pg_hba.conf': 'hostssl all certified 127.0.0.1/32 cert\nhost all all 127.0.0.1/32 scram-sha-256\n',
    })
  await present(makeCertificate(authority, 'server', 'localhost', 'DNS:localhost'))
  await query(server.url, 'CREATE ROLE certified SUPERUSER LOGIN')
  const url = (parameters: Readonly<Record<string, string>>) => changed(server.url, (host) => host, parameters)
  const isEncrypted = async (databaseUrl: string) => {
    const storage = await openStorage({ databaseUrl })
    const [row] = await storage.read.db.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
    await storage.close()
    return row?.ssl
  }
  const sslrootcert = authority.certificate
  t.equal(await isEncrypted(url({ sslmode: 'disable' })), false, 'disable')
  t.ok(await isEncrypted(url({ sslmode: 'require' })), 'require believes any certificate')
  t.ok(await isEncrypted(url({ sslmode: 'verify-ca', sslrootcert })), 'verify-ca asks for no name')
  const byName = url({ sslmode: 'verify-full', sslrootcert }).replace('127.0.0.1', 'localhost')
  t.ok(await isEncrypted(byName), 'verify-full')
  const refused = (databaseUrl: string, message: RegExp) => t.rejects(openStorage({ databaseUrl }), { message })
  await refused(url({ sslmode: 'verify-full', sslrootcert }), /altnames/)
  for (const sslmode of ['require', 'verify-ca', 'verify-full'])
    await refused(url({ sslmode, sslrootcert: other.certificate }), /certificate/)

  const { certificate: sslcert, key: sslkey } = makeCertificate(authority, 'client', 'certified', 'DNS:certified')
  const certified = url({ sslmode: 'verify-ca', sslrootcert, sslcert, sslkey }).replace(/\/\/.*@/, '//certified@')
  t.ok(await isEncrypted(certified), 'by its certificate')

  const storage = await openStorage({ databaseUrl: certified })
  await present(makeCertificate(other, 'rotated', 'localhost', 'DNS:localhost'))
  await t.rejects(storage.read.log.state(), { code: 'unavailable' }, 'the new certificate is not trusted yet')
  writeFileSync(sslrootcert, ca + readFileSync(other.certificate, 'utf8'))
  t.equal(await storage.read.log.state(), undefined, 'a rotated file holds from the next connection on')
  await storage.close()
})

t.test('a server that cannot begin a session now may return', async (t) => {
  // As Postgres answers a request for TLS when it cannot start a process: an error without a code.
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end('EFATAL:  could not fork new process\n\0'))
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const opening = openStorage({ databaseUrl: `postgres://user:password@127.0.0.1:${port}/database?sslmode=require` })
  await t.rejects(opening, { code: 'unavailable', mayReturn: true })
})

t.test('what may return is told by the code of the answer', async (t) => {
  const answers = {
    '53200': true,
    '53300': true,
    '55P03': true,
    '57P03': true,
    '40P01': true,
    '28P01': false,
    '3D000': false,
  }
  for (const [code, expected] of Object.entries(answers)) {
    const answer = Object.assign(new pg.DatabaseError('refused', 7, 'error'), { code })
    t.equal(mayReturn(answer), expected, code)
  }
})

t.test('a server without TLS is refused where the URL asks for TLS', async (t) => {
  const url = await newDatabase(t, 'postgres')
  const opening = openStorage({ databaseUrl: changed(url, (host) => host, { sslmode: 'require' }) })
  await t.rejects(opening, { code: 'unavailable', mayReturn: false, message: /does not support SSL/ })
})

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

interface Pair {
  readonly certificate: string
  readonly key: string
}

function makeAuthority(folder: string, name: string): Pair {
  const pair = { certificate: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) }
  const made = [...NEW_KEY, '-keyout', pair.key, '-out', pair.certificate]
  execFileSync(openssl!, ['req', '-x509', '-days', '2', '-subj', `/CN=${name}`, ...made], { stdio: 'ignore' })
  return pair
}

function makeCertificate(authority: Pair, name: string, subject: string, altName: string): Pair {
  const folder = join(authority.certificate, '..')
  const pair = { certificate: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) }
  const request = join(folder, `${name}.csr`)
  const own = [...NEW_KEY, '-keyout', pair.key, '-out', request]
  execFileSync(openssl!, ['req', '-subj', `/CN=${subject}`, '-addext', `subjectAltName=${altName}`, ...own], {
    stdio: 'ignore',
  })
  const signed = ['-CA', authority.certificate, '-CAkey', authority.key, '-CAcreateserial', '-out', pair.certificate]
  const extensions = ['-days', '2', '-copy_extensions', 'copyall']
  execFileSync(openssl!, ['x509', '-req', '-in', request, ...signed, ...extensions], { stdio: 'ignore' })
  return pair
}
