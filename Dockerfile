# Two results:
#   docker build --output ~/.docker/cli-plugins .                    the plugin, a static binary
#   docker build --target sandbox -t docker-workspace/sandbox .      a small base image for workspaces

FROM debian:bookworm-slim AS sandbox
RUN --mount=type=bind,source=hack/sandbox-packages.txt,target=/packages.txt \
    apt-get update \
    && apt-get install -y --no-install-recommends $(cat /packages.txt) \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log
CMD ["bash"]

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION=
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/docker-workspace/docker-workspace/plugin.version=$VERSION" \
    -o /out/docker-workspace ./cmd/docker-workspace

FROM scratch AS plugin
COPY --from=build /out/docker-workspace /
