# The package that npm pack makes, on Node. docs/operations.md, "Containers".
FROM node:26-slim AS build
WORKDIR /src
COPY . .
RUN npm pack && tar -xzf creel-*.tgz

FROM node:26-slim
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=8388608 \
  MALLOC_TRIM_THRESHOLD_=16777216 MALLOC_TOP_PAD_=1048576 GLIBC_TUNABLES=glibc.malloc.hugetlb=1
COPY --from=build /src/package /app
RUN mkdir /data && chown node:node /data
USER node
WORKDIR /app
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=8", "--no-allocation-site-pretenuring", "--expose-gc", "--memory-pool-timeout=2", "--disable-warning=ExperimentalWarning", "packages/server/dist/main.js"]
