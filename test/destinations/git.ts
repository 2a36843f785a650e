/** The git program, for destinations and the agents that push to them: on a clean configuration, and started by `git-process.ts`. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
  type ServerResponse,
} from 'node:http'
import { pipeline } from 'node:stream'
import { json } from 'node:stream/consumers'
import { aside } from '../support/stalls.ts'
import { type BackendOrder, ORDER_HEADER, type RunOrder, type RunOutcome } from './git-orders.ts'

const SCRIPT = new URL('./git-process.js', import.meta.url)
/** Of headers between two programs, and not of an answer. */
const HOP_HEADERS = ['connection', 'keep-alive', 'transfer-encoding']

/** Whoever asks, these connections are none that a check opens: the test kit watches what comes out of one. */
const outside = AsyncLocalStorage.snapshot()
const agent = new Agent({ keepAlive: true })
let started: Promise<number> | undefined

/** What git printed, without the last line feed. Rejects when git does not end well, with a `GitEnd`. */
export async function git(folder: string, args: readonly string[]): Promise<string> {
  const asking = ask({ port: await port(), method: 'POST', path: '/run' })
  asking.end(JSON.stringify({ folder, args } satisfies RunOrder))
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  const outcome = (await json(answer)) as RunOutcome
  if ('failure' in outcome) throw Object.assign(new Error(), outcome.failure)
  return outcome.stdout.replace(/\n$/, '')
}

/** git-http-backend(1) over the repositories in a folder. */
export async function httpBackend(
  root: string,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
  protocol: string | undefined,
): Promise<void> {
  const { 'content-type': type, 'content-length': length, 'content-encoding': encoding } = request.headers
  const sent = { 'content-type': type, 'content-length': length, 'content-encoding': encoding }
  const asking = ask({
    port: await port(),
    method: request.method,
    path: url.pathname + url.search,
    headers: {
      ...Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)),
      [ORDER_HEADER]: JSON.stringify({ root, protocol } satisfies BackendOrder),
    },
  })
  const answered = once(asking, 'response') as Promise<[IncomingMessage]>
  // A caller that goes away in the middle takes its question along.
  pipeline(request, asking, () => {})
  const [answer] = await answered
  const headers = Object.entries(answer.headers).filter(([name]) => !HOP_HEADERS.includes(name))
  response.writeHead(answer.statusCode!, Object.fromEntries(headers))
  for await (const chunk of answer) response.write(chunk)
  response.end()
}

function ask(options: RequestOptions): ClientRequest {
  return outside(() => requestHttp({ agent, host: '127.0.0.1', ...options }))
}

/** One process for all that this one asks of git. It ends with this one, and does not hold it up. */
function port(): Promise<number> {
  started ??= outside(start)
  return started
}

async function start(): Promise<number> {
  const child = aside(() => fork(SCRIPT, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }))
  const ended = once(child, 'exit').then(() => {
    throw new Error('git could not be started: install git, and try again')
  })
  const [port] = await Promise.race([once(child, 'message'), ended])
  child.unref()
  child.channel!.unref()
  return port
}
