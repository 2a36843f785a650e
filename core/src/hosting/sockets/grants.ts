/** Finds problems of the sockets that a manifest declares, and the one that is for an address. */
import type { Manifest } from '../../contract/plugin.ts'
import type { SocketGrant } from '../../contract/socket.ts'
import type { SocketAddress } from '../base-address.ts'
import { BreachError, refusal } from '../failures.ts'
import { IMAP_COMMANDS } from './imap.ts'
import { statementProblem } from './statements.ts'

/** Lists problems, each of which begins with its position: `sockets.0.commands: ...`. */
export function socketProblems({ sockets = [] }: Pick<Manifest, 'sockets'>): string[] {
  return sockets.flatMap((grant, index) => {
    const own = grantProblems(grant).map((problem) => `sockets.${index}${problem}`)
    const isSecond = sockets.slice(0, index).some((one) => isForSame(one, grant))
    return isSecond ? [...own, `sockets.${index}.port: another entry is for the port ${grant.port}`] : own
  })
}

/** Tells whether nothing would tell two entries apart. At a typed port the statement does, which a query names. */
function isForSame(one: SocketGrant, other: SocketGrant): boolean {
  if (one.port !== other.port || (one.tls === false) !== (other.tls === false)) return false
  if (one.port !== 'connection' || !('statements' in one) || !('statements' in other)) return true
  return one.protocol === other.protocol || one.statements.some(({ name }) => hasStatement(other, name))
}

function hasStatement(grant: SocketGrant, name: string): boolean {
  return 'statements' in grant && grant.statements.some((one) => one.name === name)
}

function grantProblems(grant: SocketGrant): string[] {
  switch (grant.protocol) {
    case 'postgres':
    case 'mysql':
      return grant.statements.flatMap((statement, index) => {
        const problem = statementProblem(statement, grant.protocol)
        return problem === undefined ? [] : [`.statements.${index}.text: the statement ${problem}`]
      })
    case 'imap': {
      const allowed = Object.keys(IMAP_COMMANDS).join(', ')
      return grant.commands.flatMap((command, index) =>
        Object.hasOwn(IMAP_COMMANDS, command) ? [] : [`.commands.${index}: imap reads by ${allowed}`],
      )
    }
  }
}

/**
 * Finds the entry for an address.
 * @param isTyped tells whether the workspace typed the address, and with it the port
 * @param statement the name of the statement to be run; undefined for a connection of another protocol than a database's
 * @throws BreachError if the manifest has none
 * @throws DestinationError `misconfigured` for a typed port that belongs to another protocol
 */
export function socketGrant(
  { port, isTls }: SocketAddress,
  { sockets = [] }: Pick<Manifest, 'sockets'>,
  isTyped: boolean,
  statement?: string,
): SocketGrant {
  const entries = sockets.filter(({ tls }) => (tls !== false) === isTls)
  const fixed = entries.find((entry) => entry.port === port)
  if (fixed) return fixed
  const all = isTyped ? entries.filter((entry) => entry.port === 'connection') : []
  const typed = all.find((entry) => statement !== undefined && hasStatement(entry, statement)) ?? all[0]
  if (!typed)
    throw new BreachError(
      `the manifest of this plugin does not declare the port ${port} ${isTls ? 'with' : 'without'} TLS`,
    )
  if (OTHERS_PORTS.has(port) && !OWN_PORTS[typed.protocol].includes(port))
    throw refusal(`${typed.protocol} is not spoken at the port ${port} of another protocol`, 'misconfigured')
  return typed
}

/** The ports that `fetch` speaks to no server (WHATWG, port blocking): old protocols there could take a client's first bytes for commands. */
const OTHERS_PORTS: ReadonlySet<number> = new Set(
  [
    '1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 161 179',
    '389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060',
    '5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080',
  ].flatMap((line) => line.split(' ').map(Number)),
)

const OWN_PORTS: Readonly<Record<SocketGrant['protocol'], readonly number[]>> = {
  imap: [143, 993],
  postgres: [],
  mysql: [],
}
