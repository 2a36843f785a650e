/**
 * An internet for one test process: names, public addresses, and servers on loopback that have them. It stands below Node's own
 * functions, so that the guard of outgoing requests works as in production: it asks name servers, refuses private addresses, pins the one
 * that it checked, and verifies certificates. Nothing leaves the machine.
 */
import { Resolver } from 'node:dns/promises'
import net, { isIP, type LookupFunction } from 'node:net'
import tls from 'node:tls'

const HTTPS_PORT = 443

interface ConnectOptions {
  readonly host: string
  readonly port: number
  readonly lookup: LookupFunction
}

export class Internet {
  /** By name. */
  readonly #addresses = new Map<string, readonly string[]>()
  /** By suffix, such as `.sites.example`. */
  readonly #domains = new Map<string, string>()
  /** By address. */
  readonly #ports = new Map<string, number>()
  readonly #restore: () => void

  /** @param ca the one authority that the process trusts from now on. PEM */
  constructor(ca: string) {
    const { resolve4, resolve6 } = Resolver.prototype
    const { connect } = net.Socket.prototype
    const secureConnect = tls.connect
    const route = this.#route.bind(this)

    const answerFour = async (name: string) => this.#lookUp(name)
    const answerSix = async () => Promise.reject(new Error('no such record'))
    Object.assign(Resolver.prototype, { resolve4: answerFour, resolve6: answerSix })
    net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]) {
      const [options] = args as [Partial<ConnectOptions>]
      if (typeof options !== 'object' || options.port !== HTTPS_PORT || !options.lookup)
        return connect.apply(this, args as never)
      route(options as ConnectOptions).then(
        (port) => connect.apply(this, [{ ...options, host: '127.0.0.1', port }, ...args.slice(1)] as never),
        (error) => this.destroy(error),
      )
      return this
    } as typeof connect
    tls.connect = ((options: object, ...rest: unknown[]) =>
      secureConnect.apply(tls, [{ ca, ...options }, ...rest] as never)) as typeof tls.connect

    this.#restore = () => {
      Object.assign(Resolver.prototype, { resolve4, resolve6 })
      net.Socket.prototype.connect = connect
      tls.connect = secureConnect
    }
  }

  /** From now on the name has these addresses. */
  name(hostname: string, ...addresses: readonly string[]): void {
    this.#addresses.set(hostname, addresses)
  }

  /** The server at this port of loopback has the address, at the usual port of https, and all names below the domain lead to it. */
  host(address: string, port: number, domain?: string): void {
    this.#ports.set(address, port)
    if (domain !== undefined) this.#domains.set(`.${domain}`, address)
  }

  close(): void {
    this.#restore()
  }

  #lookUp(name: string): string[] {
    const own = this.#addresses.get(name)
    if (own) return [...own]
    const [, address] = [...this.#domains].find(([suffix]) => name.endsWith(suffix)) ?? []
    if (address === undefined) throw Object.assign(new Error(`no such name: ${name}`), { code: 'ENOTFOUND' })
    return [address]
  }

  /** @returns the port on loopback of the server that has the address to which the host is looked up */
  async #route({ host, lookup }: ConnectOptions): Promise<number> {
    const address = isIP(host) === 0 ? await firstAddress(host, lookup) : host
    const port = this.#ports.get(address)
    if (port === undefined) throw Object.assign(new Error(`no route to ${address}`), { code: 'EHOSTUNREACH' })
    return port
  }
}

function firstAddress(host: string, lookup: LookupFunction): Promise<string> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, addresses) => {
      if (error) reject(error)
      else resolve((addresses as readonly { readonly address: string }[])[0]!.address)
    })
  })
}
