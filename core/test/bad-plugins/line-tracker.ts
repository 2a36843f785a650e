/** The tracker as a maildrop of POP3: STAT tells of the project, and UIDL lists its tickets. */
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
      const [command, argument = ''] = line.split(' ')
      if (command === 'USER') return say('+OK')
      if (command === 'PASS') {
        token = [TOKEN, GUEST_TOKEN].find((one) => one === argument)
        return say(token === undefined ? '-ERR [AUTH] no' : '+OK')
      }
      if (token === undefined) return say('-ERR log in first')
      if (command === 'STAT') return say(`+OK 17 ${token === TOKEN ? 'full' : 'limited'}`)
      if (command === 'UIDL') return say('+OK', ...(token === TOKEN ? listed(situation) : []), '.')
      return say('-ERR')
    }
    say('+OK ready')
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
  return ['3 open', ...(ticket ? [seven] : []), '8 open']
}
