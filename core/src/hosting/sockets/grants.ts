/** Finds problems of the sockets that a manifest declares. */
import type { Manifest } from '../../contract/plugin.ts'
import type { SocketGrant } from '../../contract/socket.ts'
import { PROTOCOLS } from './lines.ts'
import { statementProblem } from './statements.ts'

/** Lists problems, each of which begins with its position: `sockets.0.commands: ...`. */
export function socketProblems({ sockets = [] }: Pick<Manifest, 'sockets'>): string[] {
  return sockets.flatMap((grant, index) => {
    const isSecond =
      sockets.findIndex((one) => one.port === grant.port && (one.tls === false) === (grant.tls === false)) < index
    const own = grantProblems(grant).map((problem) => `sockets.${index}${problem}`)
    return isSecond ? [...own, `sockets.${index}.port: another entry is for the port ${grant.port}`] : own
  })
}

function grantProblems(grant: SocketGrant): string[] {
  switch (grant.protocol) {
    case 'custom':
      return [
        ...grant.lines.flatMap((line, index) =>
          /^[ -~]*$/.test(line) ? [] : [`.lines.${index}: a line has other characters than printable ASCII`],
        ),
        ...(grant.clock === undefined ||
        grant.clock === 'greeting' ||
        (grant.lines.includes(grant.clock) && !grant.clock.includes('*'))
          ? []
          : ['.clock: write greeting, or one of the lines, without *']),
      ]
    case 'postgres':
    case 'mysql':
      return grant.statements.flatMap((statement, index) => {
        const problem = statementProblem(statement, grant.protocol)
        return problem === undefined ? [] : [`.statements.${index}.text: the statement ${problem}`]
      })
    default: {
      const known = PROTOCOLS[grant.protocol].commands
      const allowed = Object.keys(known).join(', ')
      return grant.commands.flatMap((command, index) =>
        Object.hasOwn(known, command) ? [] : [`.commands.${index}: ${grant.protocol} reads by ${allowed}`],
      )
    }
  }
}
