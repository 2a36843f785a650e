/** The tracker as a server of IMAP: MYRIGHTS tells of the project, and UID SEARCH lists its tickets. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Destination } from '@claimcheck/core/testkit'
import { GUEST_TOKEN, type Situation, TICKETS, TOKEN } from './tracker.ts'

export function lineTracker(): Destination<Situation, undefined> {
  let situation: Situation = 'open'

  function serve(socket: Socket): void {
    let token: string | undefined
    let rest = ''
    const say = (...lines: string[]) => socket.write(`${lines.join('\r\n')}\r\n`)
    const obey = (line: string) => {
      const [tag, command] = line.split(' ')
      if (command === 'CAPABILITY') return say('* CAPABILITY IMAP4rev1', `${tag} OK`)
      if (command === 'LOGIN') {
        token = [TOKEN, GUEST_TOKEN].find((one) => line.endsWith(` "${one}"`))
        return say(`${tag} ${token === undefined ? 'NO [AUTHENTICATIONFAILED] no' : 'OK'}`)
      }
      if (token === undefined) return say(`${tag} NO log in first`)
      if (command === 'MYRIGHTS') return say(`${tag} OK 17 ${token === TOKEN ? 'full' : 'limited'}`)
      if (command === 'UID') return say(...(token === TOKEN ? listed(situation) : []), `${tag} OK`)
      return say(`${tag} BAD`)
    }
    say('* OK ready')
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        const lines = (rest + chunk.toString()).split('\r\n')
        rest = lines.pop()!
        for (const line of lines) obey(line)
      })
  }

  return {
    async start() {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        sockets.add(socket.on('close', () => sockets.delete(socket)))
        serve(socket)
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      return {
        url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
        async stop() {
          for (const socket of sockets) socket.destroy()
          await new Promise((resolve) => server.close(resolve))
        },
      }
    },
    set(next) {
      situation = next
      return undefined
    },
  }
}

function listed(situation: Situation): string[] {
  const ticket = TICKETS[situation]
  const closed = ticket?.events.find(({ kind }) => kind === 'closed')
  const seven = closed ? `7 closed ${ticket!.resolution} ${closed.at}` : '7 open'
  return ['3 open', ...(ticket ? [seven] : []), '8 open'].map((one) => `* ${one}`)
}
