/** The interface description, made from the schemas that the routes validate with. */
import { STATUS_CODES } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import swagger from '@fastify/swagger'
import { OAUTH_PATHS } from '../oauth/paths.ts'
import { SCOPES, scopeWords } from '../oauth/scopes.ts'
import type { App } from './instance.ts'

/** The interface's own version, which is not that of the program. */
const API_VERSION = '0.1.0'

type Json = Record<string, unknown>

/** Before the routes: it gathers them as they are declared. */
export async function describeApi(app: App, publicUrl: string | undefined): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Claimcheck',
        version: API_VERSION,
        description:
          'Checks what software agents say they did, at the place itself, and issues receipts that anyone can check.',
      },
      ...(publicUrl === undefined ? {} : { servers: [{ url: publicUrl }] }),
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'svc_sk_...' },
          oauth: {
            type: 'oauth2',
            description: 'A token of an application that a member of the workspace has allowed.',
            flows: {
              authorizationCode: {
                authorizationUrl: (publicUrl ?? '') + OAUTH_PATHS.authorize,
                tokenUrl: (publicUrl ?? '') + OAUTH_PATHS.token,
                refreshUrl: (publicUrl ?? '') + OAUTH_PATHS.token,
                scopes: Object.fromEntries(SCOPES.map((scope) => [scope, scopeWords(scope)])),
              },
            },
          },
        },
      },
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) return document.swaggerObject
      return withNamedSchemas(document.openapiObject as Json)
    },
  })
}

/** Moves each schema with a title to the components: readers see names, and generated clients get types. */
function withNamedSchemas(document: Json): Json {
  const schemas: Json = {}

  function hoisted(value: unknown, name: string | undefined): unknown {
    if (typeof value !== 'object' || value === null || DATA_KEYWORDS.has(name)) return value
    if (Array.isArray(value)) return value.map((item) => hoisted(item, name === 'parameters' ? 'parameter' : undefined))
    const copy = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, hoisted(member, key)]))
    if (name === 'responses') return described(copy as Record<string, Json>)
    if (name === 'parameter') return { ...copy, required: copy.required && !hasDefault(copy.schema) }
    const { title } = copy
    if (typeof title !== 'string' || name === 'info') return copy
    schemas[title] ??= copy
    // Two plugins may have given one title to different schemas.
    if (!isDeepStrictEqual(schemas[title], copy)) return copy
    return { $ref: `#/components/schemas/${title}` }
  }

  const named = hoisted(document, undefined) as Json & { components: Json }
  return { ...named, components: { ...named.components, schemas } }
}

/** A parameter with a default may be left out, although whoever reads the query finds a value. */
function hasDefault(schema: unknown): boolean {
  return (schema as Json).default !== undefined
}

// What stands under these is data, whatever it looks like.
const DATA_KEYWORDS: ReadonlySet<string | undefined> = new Set(['examples', 'example', 'default', 'enum', 'const'])

function described(responses: Readonly<Record<string, Json>>): Json {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, { ...response, description: STATUS_CODES[status] }]),
  )
}
