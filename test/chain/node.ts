/** The process of an EVM node (anvil), on a free port. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

export interface EvmNode {
  readonly url: string
  stop(): Promise<void>
}

// Reads until whoever started it is gone: a pipe is closed even for a process that is killed.
const KEEPER = '"$@" & cat; kill -9 $!; wait'
const LISTENING = /^Listening on (\S+)/

export async function startNode(settings: {
  readonly chainId: number
  readonly finalityDepth: number
}): Promise<EvmNode> {
  // The finalized block is two epochs behind.
  const epoch = ['--slots-in-an-epoch', String(settings.finalityDepth / 2)]
  const args = ['--port', '0', '--chain-id', String(settings.chainId), '--accounts', '1', ...epoch]
  const keeper = spawn('sh', ['-c', KEEPER, 'keeper', program(), ...args], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ended = once(keeper, 'exit')
  const stop = async () => {
    keeper.ref()
    keeper.stdin.end()
    await ended
  }

  const lines = createInterface({ input: keeper.stdout })
  let address: string | undefined
  for await (const line of lines) {
    address = LISTENING.exec(line)?.[1]
    if (address !== undefined) break
  }
  if (address === undefined) {
    await stop()
    throw new Error('the EVM node did not start')
  }
  // What it prints from now on is read and thrown away; this process may end without it.
  keeper.stdout.resume()
  keeper.unref()
  for (const stream of [keeper.stdin, keeper.stdout]) (stream as unknown as { unref(): void }).unref()
  return { url: `http://${address}`, stop }
}

/** A package's binary where there is one for this machine, else what is on the PATH. */
function program(): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  try {
    const require = createRequire(import.meta.url)
    const manifest = require.resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/package.json`)
    return join(dirname(manifest), 'bin/anvil')
  } catch {
    return 'anvil'
  }
}
