/** Debian's Dovecot on loopback: IMAP, with TLS from the first byte and with STARTTLS. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { findProgram } from './programs.ts'

export interface Dovecot {
  /** `imaps` has TLS from the first byte. */
  readonly ports: Readonly<Record<'imap' | 'imaps', number>>
  /** The raw messages of a user's mailbox. */
  mailbox(user: string): Promise<string[]>
  stop(): Promise<void>
}

export interface DovecotOptions {
  /** Passwords by user. */
  readonly users: Readonly<Record<string, string>>
  /** What is in the inbox of each. */
  readonly messages: readonly string[]
  /** The address that says of a bearer token whose it is (RFC 7662). Left out, there is no XOAUTH2. */
  readonly introspection?: string
  /** Lines behind the configuration. */
  readonly more?: string
  readonly key: string
  readonly cert: string
}

/** Why it cannot be started here; undefined where it can. */
export function dovecotProblem(): string | undefined {
  if (findProgram('dovecot') === undefined) return 'Dovecot is not installed: apt-get install dovecot-imapd'
  return process.getuid?.() === 0 ? undefined : 'Dovecot changes users, and this is not root'
}

const START_MS = 10_000
const BEGUN_AT = 'Thu, 26 Nov 2026 10:00:00 +0000'

export async function startDovecot({
  users,
  messages,
  introspection,
  more = '',
  key,
  cert,
}: DovecotOptions): Promise<Dovecot> {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-dovecot-'))
  // Dovecot's processes are other users.
  await chmod(folder, 0o755)
  const [imap, imaps] = (await Promise.all([1, 2].map(freePort))) as [number, number]
  const at = (...names: string[]) => join(folder, ...names)
  await writeFile(
    at('users'),
    Object.entries(users)
      .map(([user, password]) => `${user}:{PLAIN}${password}\n`)
      .join(''),
  )
  await writeFile(at('key.pem'), key)
  await writeFile(at('cert.pem'), cert)
  for (const user of Object.keys(users)) {
    for (const name of ['new', 'cur', 'tmp']) await mkdir(at('mail', user, 'Maildir', name), { recursive: true })
    for (const [index, text] of messages.entries())
      await writeFile(at('mail', user, 'Maildir', 'new', `1795687200.${index}.host`), `Date: ${BEGUN_AT}\r\n${text}`)
  }
  const hasTokens = introspection !== undefined
  await writeFile(at('dovecot.conf'), configuration(folder, { imap, imaps }, hasTokens) + more)
  if (hasTokens)
    await writeFile(
      at('oauth2'),
      `introspection_mode = auth\nintrospection_url = ${introspection}\nusername_attribute = sub\nactive_attribute = active\nactive_value = true\n`,
    )
  const child = spawn('chown', ['-R', 'nobody:nogroup', at('mail')])
  await once(child, 'exit')
  await writeFile(at('log'), '')
  const server = spawn(findProgram('dovecot')!, ['-F', '-c', at('dovecot.conf')], { stdio: 'ignore' })
  const stop = () => stopped(server, folder)
  try {
    for (const port of [imap, imaps]) await answering(port, at('log'))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    ports: { imap, imaps },
    async mailbox(user) {
      const found = await Promise.all(
        ['new', 'cur'].map(async (name) => {
          const place = at('mail', user, 'Maildir', name)
          return Promise.all((await readdir(place)).map((file) => readFile(join(place, file), 'utf8')))
        }),
      )
      return found.flat()
    },
    stop,
  }
}

/** Lines for a mailbox of sent messages. */
export const SENT = 'namespace inbox {\n inbox = yes\n mailbox Sent {\n  auto = create\n  special_use = \\Sent\n }\n}\n'

export interface Filed {
  readonly user: string
  readonly password: string
  readonly message: string
  /** The date that the program chooses, quoted, with a space behind it; when left out, the server's own. */
  readonly date?: string
}

/** Puts a message into the mailbox of sent messages as a mail program does. */
export async function fileSent({ ports }: Dovecot, { user, password, message, date = '' }: Filed): Promise<void> {
  const socket = connect(ports.imap, '127.0.0.1').setEncoding('latin1')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  for (const [line, answer] of [
    ['', '* OK'],
    [`a LOGIN ${user} ${password}\r\n`, 'a OK'],
    [`b APPEND Sent ${date}{${message.length}}\r\n`, '+ '],
    [`${message}\r\n`, 'b OK'],
  ] as const) {
    if (line) socket.write(line)
    while (!text.includes(answer)) await once(socket, 'data')
    text = ''
  }
  socket.destroy()
}

function configuration(folder: string, ports: Dovecot['ports'], hasTokens: boolean): string {
  const listener = (name: string, port: number, ssl: boolean) =>
    `inet_listener ${name} {\n address = 127.0.0.1\n port = ${port}\n ssl = ${ssl ? 'yes' : 'no'}\n}\n`
  return `base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
protocols = imap
ssl = yes
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
auth_mechanisms = plain login scram-sha-256${hasTokens ? ' xoauth2' : ''}
auth_failure_delay = 0
mail_location = maildir:~/Maildir
${hasTokens ? `passdb {\n driver = oauth2\n mechanisms = xoauth2\n args = ${folder}/oauth2\n}\n` : ''}passdb {
 driver = passwd-file
 args = username_format=%u ${folder}/users
}
userdb {
 driver = static
 args = uid=nobody gid=nogroup home=${folder}/mail/%u
}
first_valid_uid = 1
service anvil {
 unix_listener anvil-auth-penalty {
  mode = 0
 }
}
service imap-login {
${listener('imap', ports.imap, false)}${listener('imaps', ports.imaps, true)}}
`
}

async function answering(port: number, log: string): Promise<void> {
  for (let waited = 0; waited < START_MS; waited += 50) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'close').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    if (isOpen) return
    await setTimeout(50)
  }
  throw new Error(`Dovecot does not answer: ${await readFile(log, 'utf8')}`)
}

async function stopped(server: ChildProcess, folder: string): Promise<void> {
  if (server.exitCode === null) {
    server.kill('SIGTERM')
    await once(server, 'exit')
  }
  await rm(folder, { recursive: true, force: true })
}
