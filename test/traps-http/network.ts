/** Traps of names, addresses and certificates, and targets that are no addresses to read. */
import { textFingerprint } from '@claimcheck/core'
import type { Answerer } from '../destinations/web.ts'
import type { Trap } from '../traps/trap.ts'
import { PRIVATE, PUBLIC, type World } from './world.ts'

const UNREADABLE = ['unknowable', 'unverifiable/destination_unavailable'] as const
const hello: Answerer = (_, response) => void response.end('Hello')
const missing: Answerer = (_, response) => void response.writeHead(404, { connection: 'close' }).end()

/** An address that no site of the world has. */
function unreadable(name: string, target: string): Trap<World> {
  const [truth, verdict] = UNREADABLE
  return { name, truth, verdict, play: async (world) => world.claim(target, world.soon()) }
}

/** A site with a name of its own at these addresses. */
function named(
  name: string,
  [truth, verdict]: readonly [Trap['truth'], string],
  addresses: readonly string[],
): Trap<World> {
  return {
    name,
    truth,
    verdict,
    async play(world) {
      const host = world.site(hello)
      world.internet.name(host, ...addresses)
      return world.claim(`https://${host}/`, world.soon())
    },
  }
}

function refused(name: string, target: string, refusal: RegExp): Trap<World> {
  return { name, truth: 'unknowable', verdict: '422', play: async (world) => world.claim(target, { refusal }) }
}

const NO_ADDRESS = /begins with `https:\/\/`, without a user name/

export const networkTraps: readonly Trap<World>[] = [
  unreadable('a certificate that has expired', 'https://www.expired.example/'),
  unreadable('a certificate that the server signed itself', 'https://www.untrusted.example/'),
  unreadable('a certificate for another name', 'https://www.misnamed.example/'),
  unreadable('a server without TLS', 'https://www.plain.example/'),
  unreadable('a name that does not exist', 'https://www.nobody.example/'),
  unreadable('an address that nobody has', 'https://9.9.9.99/'),
  unreadable('the address of this machine', 'https://127.0.0.1/'),
  unreadable('the same in another form', 'https://0x7f.1/'),
  unreadable('the address of the metadata of clouds', 'https://169.254.169.254/latest/meta-data'),
  unreadable('the address of this machine in IPv6', 'https://[::1]/'),
  unreadable('the name of this machine', 'https://localhost/'),
  named('a name of a public address', ['in_time', 'verified'], [PUBLIC]),
  named('a name of a private address', UNREADABLE, [PRIVATE]),
  named('a name of a public and of a private address', UNREADABLE, [PUBLIC, PRIVATE]),
  {
    name: 'a name that becomes one of a private address, where the page is',
    truth: 'unknowable',
    verdict: 'unverifiable/destination_unavailable',
    async play(world) {
      const host = world.site(missing)
      world.internet.name(host, PUBLIC)
      return world.claim(`https://${host}/`, {
        afterMs: 10_000,
        async meanwhile() {
          world.sites.serve(host, hello)
          world.internet.name(host, PRIVATE)
        },
      })
    },
  },
  {
    name: 'a name that becomes that of another public server, where the page is',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const host = world.site(hello)
      world.internet.name(host, '9.9.9.99')
      return world.claim(`https://${host}/`, {
        afterMs: 60_000,
        meanwhile: async () => world.internet.name(host, PUBLIC),
      })
    },
  },
  {
    name: 'upper case, the usual port and dots in the path',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const host = world.site((request, response) => void response.writeHead(request.url === '/News' ? 200 : 500).end())
      return world.claim(`HTTPS://${host.toUpperCase()}:443/a/../News`, { source: { base_url: `https://${host}` } })
    },
  },
  {
    name: 'a name in Unicode',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      world.sites.serve('xn--bcher-kva.example', hello)
      world.internet.name('xn--bcher-kva.example', PUBLIC)
      return world.claim('https://Bücher.example', { source: { base_url: 'https://xn--bcher-kva.example' } })
    },
  },
  {
    name: 'another port',
    truth: 'unknowable',
    verdict: 'unverifiable/no_connection',
    play: async (world) => world.claim(`https://${world.site(hello)}:8443/`),
  },
  {
    name: 'another port of a private address that the operator allows, without a connection',
    truth: 'unknowable',
    verdict: 'unverifiable/no_connection',
    play: async (world) => world.claim(`${world.connectedUrl}/`),
  },
  {
    name: 'the same through a connection',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      world.sites.serve('localhost', hello)
      const params = { content_fingerprint: textFingerprint('Hello') }
      return world.claim(`${world.connectedUrl}/`, { client: world.connected, params, source: { provider: 'site' } })
    },
  },
  refused('plain HTTP', 'http://www.sites.example/', NO_ADDRESS),
  refused('a user name and a password', 'https://anna:secret@www.sites.example/', NO_ADDRESS),
  refused('a query', 'https://www.sites.example/?token=secret', NO_ADDRESS),
  refused('a fragment', 'https://www.sites.example/#news', NO_ADDRESS),
  refused('a backslash', 'https://www.sites.example\\@10.0.0.2/', NO_ADDRESS),
  refused('a name with codes in it', 'https://www%2esites.example/', NO_ADDRESS),
  refused('a port that is none', 'https://www.sites.example:99999/', /cannot read such a target/),
  refused('a name that is none', 'https://news|app.example/', /cannot read such a target/),
]
