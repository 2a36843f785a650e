/**
 * Starts git for another process, over HTTP: `POST /run` runs a command, and everything else is git's own HTTP service.
 * A new process begins as a copy of the one that starts it: from this one, which is small, that takes a tenth of the time.
 */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { json } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { type BackendOrder, type GitEnd, ORDER_HEADER, type RunOrder, type RunOutcome } from './git-orders.ts'

const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Agent',
  GIT_AUTHOR_EMAIL: 'agent@example.com',
  GIT_COMMITTER_NAME: 'Agent',
  GIT_COMMITTER_EMAIL: 'agent@example.com',
}

const MOST_OUTPUT_BYTES = 64 * 1024 * 1024

const PROGRAMS = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim()
const BACKEND = join(PROGRAMS, 'git-http-backend')

const server = createServer((request, response) => {
  const work = request.url === '/run' ? run(request, response) : answer(request, response)
  work.catch(() => response.destroy())
})
// Whoever asks keeps its connections.
server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
// The process that started it has ended.
process.on('disconnect', () => process.exit())

async function run(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { folder, args } = (await json(request)) as RunOrder
  const options = { cwd: folder, env: ENVIRONMENT, maxBuffer: MOST_OUTPUT_BYTES }
  const outcome: RunOutcome = await promisify(execFile)('git', [...args], options).then(
    ({ stdout }) => ({ stdout }),
    ({ message, code, stderr }: GitEnd) => ({ failure: { message, code, stderr } }),
  )
  response.end(JSON.stringify(outcome))
}

/** git-http-backend(1), by the Common Gateway Interface (RFC 3875). */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { headers } = request
  const { root, protocol } = JSON.parse(headers[ORDER_HEADER] as string) as BackendOrder
  const [path = '', query = ''] = request.url!.split(/\?(.*)/s)
  const child = spawn(BACKEND, {
    env: {
      PATH: process.env.PATH,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: protocol,
      PATH_INFO: decodeURI(path),
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: headers['content-type'],
      CONTENT_LENGTH: headers['content-length'],
      HTTP_CONTENT_ENCODING: headers['content-encoding'],
      REMOTE_ADDR: '127.0.0.1',
      REMOTE_USER: 'agent',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  // A caller that goes away in the middle breaks the pipe.
  pipeline(request, child.stdin, () => {})
  response.sendDate = false

  let head = Buffer.alloc(0)
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    if (response.headersSent) {
      response.write(chunk)
      continue
    }
    head = Buffer.concat([head, chunk])
    const bodyAt = head.indexOf('\r\n\r\n')
    if (bodyAt === -1) continue
    writeHead(response, head.subarray(0, bodyAt).toString('latin1'))
    response.write(head.subarray(bodyAt + 4))
  }
  if (!response.headersSent) response.writeHead(500)
  response.end()
}

function writeHead(response: ServerResponse, head: string): void {
  const fields = head.split('\r\n').map((line) => line.split(/:\s*(.*)/, 2) as [string, string])
  const code = fields.find(([name]) => name.toLowerCase() === 'status')?.[1]
  const headers = fields.filter(([name]) => name.toLowerCase() !== 'status')
  response.writeHead(code ? Number.parseInt(code, 10) : 200, Object.fromEntries(headers))
}
