# The service without torch, by the wheel. Build: docker build -t rejoinder .
# Run: docker run --rm -p 127.0.0.1:8000:8000 -e REJOINDER_TOKEN=... rejoinder
FROM python:3.12-slim-bookworm AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim-bookworm
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/*.whl)[serve]" && rm -r /wheels \
    && useradd --system --no-create-home --shell /usr/sbin/nologin rejoinder
USER rejoinder
EXPOSE 8000
STOPSIGNAL SIGTERM
# Lives is who answers; one that is busy (503) is as well as any.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["python", "-c", \
    "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8000, timeout=4); c.request('GET', '/health'); assert c.getresponse().status in (200, 503)"]
# Other machines reach it, so it asks for a token: REJOINDER_TOKEN, or --token-file of a mounted file.
ENTRYPOINT ["rejoinder", "serve", "--host", "0.0.0.0"]
