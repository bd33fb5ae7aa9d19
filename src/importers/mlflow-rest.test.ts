import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { type Answer, servers } from './fixtures/http-server.ts'
import { mlflow } from './fixtures/mlflow.ts'
import { askMlflow } from './mlflow-request.ts'
import { isMlflowServer, readMlflowServer } from './mlflow-rest.ts'

const serve = servers()

describe('an MLflow server', () => {
  test('is recognised by its answer, without a token', async () => {
    const seen: unknown[] = []
    const url = await serve(request => {
      seen.push(request.headers.authorization)
      return mlflow(request)
    })
    expect(await isMlflowServer(url)).toBe(true)
    expect(seen).toEqual([undefined])
    expect(await isMlflowServer(await serve(() => response => response.writeHead(404).end('no')))).toBe(false)
    expect(await isMlflowServer(new URL('ftp://127.0.0.1/'))).toBe(false)
    await expect(isMlflowServer(new URL('http://127.0.0.1:1/'))).rejects.toThrow('http://127.0.0.1:1 cannot be reached')
  })

  test.each([401, 503])('that answers %i is recognised by its address', async status => {
    const url = await serve(() => response => response.writeHead(status).end())
    expect(await isMlflowServer(url)).toBe(false)
    expect(await isMlflowServer(new URL('#/experiments/1', url))).toBe(true)
  })

  test('below a path, at the address that a browser shows, for one experiment', async () => {
    const paths: string[] = []
    const url = await serve(request => {
      paths.push(request.path)
      return mlflow({ ...request, path: request.path.replace('/lab', '') })
    })
    const experiments = await readMlflowServer(new URL('lab/#/experiments/1/runs/abc', url), {})
    expect(experiments.map(({ name }) => name)).toEqual(['tuning'])
    expect(paths[0]).toBe('/lab/api/2.0/mlflow/experiments/search')
    expect(await readMlflowServer(new URL('lab/#/experiments/0', url), {})).toEqual([])
  })

  test('is asked for the runs of one experiment alone', async () => {
    const asked: unknown[] = []
    const url = await serve(request => {
      asked.push(request.body['experiment_ids'])
      return mlflow(request)
    })
    expect(await readMlflowServer(url, { environment: `${url.host}/tuning` })).toHaveLength(1)
    expect(asked.flat()).not.toContain('0')
    await expect(readMlflowServer(url, { environment: 'tunes' })).rejects.toThrow(
      'has no runs of "tunes"; its experiments are Default, tuning',
    )
  })

  test('gets the token, which no error shows', async () => {
    const answer: Answer = request =>
      request.headers.authorization === 'Bearer secret-1' ? mlflow(request) : response => response.writeHead(401).end()
    const url = await serve(answer)
    expect(await readMlflowServer(url, { token: 'secret-1' })).toHaveLength(1)
    await expect(readMlflowServer(url, {})).rejects.toThrow(
      `${url.origin} wants a token (401); put it in MLFLOW_TRACKING_TOKEN`,
    )
    const refused = await readMlflowServer(url, { token: 'wrong-2' }).catch(error => error)
    expect(refused.message).toBe(`${url.origin} does not accept the token (401); check MLFLOW_TRACKING_TOKEN`)
    expect(JSON.stringify(refused, Object.getOwnPropertyNames(refused))).not.toContain('wrong-2')
    const repeating = await serve(({ headers }) => response => {
      response.writeHead(400).end(JSON.stringify({ message: `no right for ${headers.authorization}` }))
    })
    await expect(readMlflowServer(repeating, { token: 'wrong-2' })).rejects.toThrow(
      /answers 400: no right for Bearer …$/,
    )
  })

  test('takes a name and a password of the address, and repeats neither', async () => {
    const url = await serve(
      ({ headers }) =>
        response =>
          response.writeHead(500).end(headers.authorization),
    )
    url.username = 'ada'
    url.password = 'pass word'
    const given = await serve(request =>
      request.headers.authorization === `Basic ${btoa('ada:pass word')}`
        ? mlflow(request)
        : response => response.writeHead(403).end(),
    )
    given.username = 'ada'
    given.password = 'pass word'
    expect(await readMlflowServer(given, {})).toHaveLength(1)
  })

  test('that is busy is asked again', async () => {
    let asked = 0
    const url = await serve(request => {
      asked++
      if (asked === 1) return response => response.writeHead(429, { 'retry-after': '0' }).end()
      if (asked === 2) return response => response.writeHead(503, { 'retry-after': '0' }).end()
      return mlflow(request)
    })
    expect(await readMlflowServer(url, {})).toHaveLength(1)
  })

  test('that wants to be left alone for an hour is not waited for', async () => {
    const url = await serve(() => response => response.writeHead(429, { 'retry-after': '3600' }).end())
    await expect(readMlflowServer(url, {})).rejects.toThrow(
      `${url.origin} answers 429 and wants to be asked again in 60 minutes: import it then`,
    )
  })

  test('that stays broken is named with what it says', async () => {
    const answer = (response: ServerResponse) =>
      response.writeHead(500, { 'retry-after': '0' }).end('{"error_code":"INTERNAL_ERROR","message":"disk full"}')
    const url = await serve(() => answer)
    await expect(readMlflowServer(url, {})).rejects.toThrow(`${url.origin} answers 500: disk full`)
  })

  test('that answers something else is named', async () => {
    const page = await serve(() => response => response.end('<html>'))
    await expect(readMlflowServer(page, {})).rejects.toThrow('does not answer like an MLflow server (no JSON')
    const other = await serve(() => ({ experiments: [{ id: 1 }] }))
    await expect(readMlflowServer(other, {})).rejects.toThrow('experiments/search has experiments.0.experiment_id')
    const gone = new URL('http://127.0.0.1:1/')
    await expect(readMlflowServer(gone, {})).rejects.toThrow(/^http:\/\/127\.0\.0\.1:1 cannot be reached: /)
  })

  test('that is slow, or stops in the middle, is named', async () => {
    const ask = async (answer: Answer) => {
      const server = { base: await serve(answer), authorization: null, signal: null }
      return askMlflow(server, 'POST', 'runs/search', {}, { seconds: 0.2, tries: 1 })
    }
    await expect(ask(() => () => {})).rejects.toThrow(/cannot be reached: no answer within 0.2 seconds$/)
    const half = (response: ServerResponse) => response.writeHead(200).write('{"runs": [')
    await expect(ask(() => half)).rejects.toThrow(/stopped in the middle of an answer: no answer within 0.2 seconds$/)
    await expect(ask(() => response => half(response) && setImmediate(() => response.destroy()))).rejects.toThrow(
      /stopped in the middle of an answer: /,
    )
  })

  test('that redirects to another host does not get its token there', async () => {
    const seen: unknown[] = []
    const other = await serve(({ headers }) => {
      seen.push(headers.authorization)
      return {}
    })
    const url = await serve(() => response => response.writeHead(307, { location: other.href }).end())
    await expect(readMlflowServer(url, { token: 'secret' })).rejects.toThrow(
      `redirects to ${other.origin}/, which is not followed`,
    )
    expect(seen).toEqual([])
  })

  test('that redirects on its own host is followed, not for ever', async () => {
    const url = await serve(request =>
      request.path.startsWith('/new/')
        ? mlflow({ ...request, path: request.path.replace('/new', '') })
        : response => response.writeHead(308, { location: `/new${request.path}` }).end(),
    )
    expect(await readMlflowServer(url, {})).toHaveLength(1)
    const circle = await serve(() => response => response.writeHead(307, { location: '/' }).end())
    await expect(readMlflowServer(circle, {})).rejects.toThrow('which is not followed')
  })

  test('that gives the same page again and again is left', async () => {
    const url = await serve(() => ({ experiments: [], next_page_token: 'again' }))
    await expect(readMlflowServer(url, {})).rejects.toThrow('gives the same page of experiments/search again and again')
    let count = 0
    const round = await serve(() => ({ experiments: [], next_page_token: String(count++) }))
    await expect(readMlflowServer(round, {})).rejects.toThrow('again and again')
  })

  test('is left when the user stops', async () => {
    const stop = new AbortController()
    const url = await serve(() => () => stop.abort(new Error('stopped')))
    await expect(readMlflowServer(url, { signal: stop.signal })).rejects.toThrow('stopped')
  })
})
