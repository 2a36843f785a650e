/** The process of `plugin test` in the sandbox, where it runs code of files only. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

await prepareFetch()
await import('@claimcheck/core/sandbox/no-strings')
const { runKitHere } = await import('./kit-run.ts')
await runKitHere()

/** A destination may set itself up by `fetch`, which compiles WebAssembly of Node's own when it is first used, and never again. */
async function prepareFetch(): Promise<void> {
  const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).text()
  server.close().closeAllConnections()
}
