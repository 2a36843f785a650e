/** The process of a Verdaccio: each request is answered at the time that it carries, so that tests can publish at any time. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { NOW_HEADER } from './front.ts'

const realNow = Date.now
/** How far the time of the request that is being answered is from the machine's. */
const ahead = new AsyncLocalStorage<number>()

globalThis.Date = new Proxy(Date, {
  construct: (target, args, self) => Reflect.construct(target, args.length > 0 ? args : [Date.now()], self),
  get: (target, name, self) =>
    name === 'now' ? () => realNow() + (ahead.getStore() ?? 0) : Reflect.get(target, name, self),
})

const require = createRequire(join(process.cwd(), 'package.json'))
const { runServer } = require('verdaccio') as { runServer(config: string): Promise<Server> }
const server = await runServer(process.argv[2]!)
const [answer] = server.listeners('request') as ((...args: unknown[]) => void)[]
server.removeAllListeners('request')
server.on('request', (request, response) => {
  const now = Number(request.headers[NOW_HEADER] ?? realNow())
  ahead.run(now - realNow(), () => answer!.call(server, request, response))
})
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
