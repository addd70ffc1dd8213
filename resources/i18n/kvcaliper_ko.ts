<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ko" sourcelanguage="en">
<context>
    <name>LayerKind</name>
    <message>
        <source>full attention</source>
        <translation>전체 어텐션</translation>
    </message>
    <message>
        <source>sliding attention</source>
        <translation>슬라이딩 어텐션</translation>
    </message>
    <message>
        <source>chunked attention</source>
        <translation>청크 어텐션</translation>
    </message>
    <message>
        <source>cross-attention</source>
        <translation>크로스 어텐션</translation>
    </message>
    <message>
        <source>latent attention</source>
        <translation>잠재 어텐션</translation>
    </message>
    <message>
        <source>compressed attention</source>
        <translation>압축 어텐션</translation>
    </message>
    <message>
        <source>Mamba 1</source>
        <translation>Mamba 1</translation>
    </message>
    <message>
        <source>Mamba 2</source>
        <translation>Mamba 2</translation>
    </message>
    <message>
        <source>gated delta</source>
        <translation>게이트 델타</translation>
    </message>
    <message>
        <source>Kimi delta</source>
        <translation>Kimi 델타</translation>
    </message>
    <message>
        <source>lightning</source>
        <translation>라이트닝</translation>
    </message>
    <message>
        <source>gated linear</source>
        <translation>게이트 선형</translation>
    </message>
    <message>
        <source>RG-LRU</source>
        <translation>RG-LRU</translation>
    </message>
    <message>
        <source>short convolution</source>
        <translation>짧은 합성곱</translation>
    </message>
    <message>
        <source>RWKV 4</source>
        <translation>RWKV 4</translation>
    </message>
    <message>
        <source>RWKV</source>
        <translation>RWKV</translation>
    </message>
    <message>
        <source>mLSTM</source>
        <translation>mLSTM</translation>
    </message>
    <message>
        <source>convolution</source>
        <translation>합성곱</translation>
    </message>
    <message>
        <source>shared with another layer</source>
        <translation>다른 레이어와 공유</translation>
    </message>
    <message>
        <source>keeps nothing</source>
        <translation>보관하지 않음</translation>
    </message>
    <message>
        <source> (window %1)</source>
        <translation> (윈도 %1)</translation>
    </message>
</context>
<context>
    <name>Report</name>
    <message>
        <source>%1: expected a name ending in .html or .pdf</source>
        <translation>%1: .html이나 .pdf로 끝나는 이름이어야 합니다</translation>
    </message>
    <message>
        <source>page %1 of %2</source>
        <translation>%2쪽 중 %1쪽</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui</name>
    <message>
        <source>any number</source>
        <translation>제한 없음</translation>
    </message>
    <message>
        <source>any context</source>
        <translation>어떤 컨텍스트든</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>토큰 %1개</translation>
    </message>
    <message>
        <source>no answer</source>
        <translation>답 없음</translation>
    </message>
    <message>
        <source>fits, %1 free</source>
        <translation>들어감, %1 남음</translation>
    </message>
    <message>
        <source>lacks %1</source>
        <translation>%1 부족</translation>
    </message>
    <message>
        <source>at most %1 sequences; %2</source>
        <translation>최대 시퀀스 %1개; %2</translation>
    </message>
    <message>
        <source>%1: weights %2, workspace %3, cache %4, left for the cache %5</source>
        <translation>%1: 가중치 %2, 작업 공간 %3, 캐시 %4, 캐시에 남는 양 %5</translation>
    </message>
    <message>
        <source>usable %1</source>
        <translation>사용 가능 %1</translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation>%1 남음</translation>
    </message>
    <message>
        <source>&lt;b&gt;What would make it fit&lt;/b&gt;</source>
        <translation>&lt;b&gt;들어가게 하는 방법&lt;/b&gt;</translation>
    </message>
    <message>
        <source>&lt;b&gt;To paste&lt;/b&gt;</source>
        <translation>&lt;b&gt;붙여넣을 명령&lt;/b&gt;</translation>
    </message>
    <message>
        <source>lacks %1 under its own rules</source>
        <translation>자체 규칙으로 %1 부족</translation>
    </message>
    <message>
        <source>usable</source>
        <translation>사용 가능</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>가중치</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>작업 공간</translation>
    </message>
    <message>
        <source>cache</source>
        <translation>캐시</translation>
    </message>
    <message>
        <source>headroom</source>
        <translation>여유</translation>
    </message>
    <message>
        <source>on %1, engine %2</source>
        <translation>%1, 엔진 %2</translation>
    </message>
    <message>
        <source>bytes on each device</source>
        <translation>장치마다의 바이트</translation>
    </message>
    <message>
        <source>What fits %1</source>
        <translation>무엇이 들어가는가: %1</translation>
    </message>
    <message>
        <source>1 sequence</source>
        <translation>시퀀스 1개</translation>
    </message>
    <message>
        <source>%1 sequences</source>
        <translation>시퀀스 %1개</translation>
    </message>
    <message>
        <source>weights and workspace</source>
        <translation>가중치와 작업 공간</translation>
    </message>
    <message>
        <source>On this device rather &lt;code&gt;%1&lt;/code&gt;: %2</source>
        <translation>이 장치에서는 오히려 &lt;code&gt;%1&lt;/code&gt;: %2</translation>
    </message>
    <message>
        <source>%1 K/V</source>
        <translation>%1 K/V</translation>
    </message>
    <message>
        <source>%1 K, %2 V</source>
        <translation>%1 K, %2 V</translation>
    </message>
    <message>
        <source>%1 fixed</source>
        <translation>고정 %1</translation>
    </message>
    <message>
        <source>%1 past its windows</source>
        <translation>윈도를 지나면 %1</translation>
    </message>
    <message>
        <source>%1 past %2 tokens</source>
        <translation>토큰 %2개를 지나면 %1</translation>
    </message>
    <message>
        <source>0 B/token</source>
        <translation>0 B/토큰</translation>
    </message>
    <message>
        <source>%1: uncapped %2 per token, growth %3 per token, constant %4 per sequence</source>
        <translation>%1: 토큰당 상한 없음 %2, 토큰당 증가분 %3, 시퀀스당 고정분 %4</translation>
    </message>
    <message>
        <source>grows with every token</source>
        <translation>토큰마다 늘어남</translation>
    </message>
    <message>
        <source>stops growing when its window is full</source>
        <translation>윈도가 차면 더 늘지 않음</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>No model is ticked.</source>
        <translation>선택한 모델이 없습니다.</translation>
    </message>
    <message>
        <source>, %1 sequences</source>
        <translation>, 시퀀스 %1개</translation>
    </message>
    <message>
        <source>bytes per token, uncapped</source>
        <translation>토큰당 바이트, 상한 없음</translation>
    </message>
    <message>
        <source>KV cache per token</source>
        <translation>토큰당 KV 캐시</translation>
    </message>
    <message>
        <source>context %1</source>
        <translation>컨텍스트 %1</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>토큰</translation>
    </message>
    <message>
        <source>bytes, all sequences</source>
        <translation>바이트, 모든 시퀀스</translation>
    </message>
    <message>
        <source>Cache over context</source>
        <translation>컨텍스트에 따른 캐시</translation>
    </message>
    <message>
        <source>; ◇ a window is full; dotted past a model's own maximum</source>
        <translation>; ◇ 윈도가 가득 참; 모델의 최대를 지나면 점선</translation>
    </message>
    <message>
        <source>; teeth: K is packed (further right their tips alone)</source>
        <translation>; 톱니: K 한 그룹이 압축됨; 더 뒤에서는 톱니의 꼭짓점만</translation>
    </message>
    <message>
        <source>; at the context: %1</source>
        <translation>; 컨텍스트에서: %1</translation>
    </message>
    <message>
        <source>layer</source>
        <translation>레이어</translation>
    </message>
    <message>
        <source>What each layer keeps</source>
        <translation>레이어마다 보관하는 것</translation>
    </message>
    <message>
        <source>; height: bytes as a share of the model's largest layer</source>
        <translation>; 높이: 모델에서 가장 큰 레이어 대비 바이트</translation>
    </message>
    <message>
        <source>%1: predicted line, measured points</source>
        <translation>%1: 예측선과 측정점</translation>
    </message>
    <message>
        <source>; points measured: %1</source>
        <translation>; 측정한 점: %1</translation>
    </message>
    <message>
        <source>%1: expected a name ending in .svg, .pdf or .png</source>
        <translation>%1: .svg, .pdf, .png로 끝나는 이름이어야 합니다</translation>
    </message>
    <message>
        <source>%1: the chart could not be drawn</source>
        <translation>%1: 차트를 그리지 못했습니다</translation>
    </message>
    <message>
        <source>a plain transformer</source>
        <translation>일반 트랜스포머</translation>
    </message>
    <message>
        <source>model_type %1</source>
        <translation>model_type %1</translation>
    </message>
    <message>
        <source>one KV head for every query head in %1</source>
        <translation>%1에서는 쿼리 헤드마다 KV 헤드 하나</translation>
    </message>
    <message>
        <source>multi_query decides: one, or one for every query head</source>
        <translation>multi_query가 결정: 하나, 또는 쿼리 헤드마다 하나</translation>
    </message>
    <message>
        <source>multi_query_attention is off: one for every query head</source>
        <translation>multi_query_attention이 꺼짐: 쿼리 헤드마다 하나</translation>
    </message>
    <message>
        <source>the config has no attn_config to write it in</source>
        <translation>설정에 이를 쓸 attn_config가 없음</translation>
    </message>
    <message>
        <source>every layer is full in %1</source>
        <translation>%1에서는 모든 레이어가 전체 어텐션</translation>
    </message>
    <message>
        <source>all layers are alike in %1</source>
        <translation>%1에서는 모든 레이어가 같음</translation>
    </message>
    <message>
        <source>layers are named one by one in %1</source>
        <translation>%1에서는 레이어를 하나씩 적음</translation>
    </message>
    <message>
        <source>set a window first</source>
        <translation>먼저 윈도를 정하세요</translation>
    </message>
    <message>
        <source>the config names no layer that attends</source>
        <translation>설정에 어텐션 레이어가 없음</translation>
    </message>
    <message>
        <source>every layer attends in %1</source>
        <translation>%1에서는 모든 레이어가 어텐션을 함</translation>
    </message>
    <message>
        <source>which layers attend is listed in another way in %1; edit its file</source>
        <translation>%1에서는 어텐션 레이어를 다른 방식으로 적음; 파일을 편집하세요</translation>
    </message>
    <message>
        <source>the layers are counted from the pattern of %1</source>
        <translation>레이어 수는 %1의 패턴에서 셈</translation>
    </message>
    <message>
        <source>%1 names layers by number; edit the file</source>
        <translation>%1은(는) 레이어를 번호로 적음; 파일을 편집하세요</translation>
    </message>
    <message>
        <source>latent attention (MLA) keeps one latent for all heads</source>
        <translation>잠재 어텐션(MLA)은 모든 헤드에 잠재 벡터 하나를 보관</translation>
    </message>
    <message>
        <source>no layer of this model attends</source>
        <translation>이 모델에는 어텐션 레이어가 없음</translation>
    </message>
    <message>
        <source>compressed attention keeps one vector for all heads</source>
        <translation>압축 어텐션은 모든 헤드에 벡터 하나를 보관</translation>
    </message>
    <message>
        <source>every layer has KV heads of its own; edit the file</source>
        <translation>레이어마다 KV 헤드가 따로 있음; 파일을 편집하세요</translation>
    </message>
    <message>
        <source>it is written in the object attn; edit the file</source>
        <translation>attn 객체에 적혀 있음; 파일을 편집하세요</translation>
    </message>
    <message>
        <source>the latent rank takes its place in latent attention (MLA)</source>
        <translation>잠재 어텐션(MLA)에서는 잠재 랭크가 이를 대신함</translation>
    </message>
    <message>
        <source>it follows from hidden_size and the heads in %1</source>
        <translation>%1에서는 hidden_size와 헤드 수에서 정해짐</translation>
    </message>
    <message>
        <source>no layer has a window in %1</source>
        <translation>%1에는 윈도가 있는 레이어가 없음</translation>
    </message>
    <message>
        <source>no layer of this model has a window</source>
        <translation>이 모델에는 윈도가 있는 레이어가 없음</translation>
    </message>
    <message>
        <source>only latent attention (MLA) has one, and %1 has none</source>
        <translation>잠재 어텐션(MLA)에만 있으며 %1에는 없음</translation>
    </message>
    <message>
        <source>all layers are alike, or listed one by one, in %1</source>
        <translation>%1에서는 모든 레이어가 같거나 하나씩 적혀 있음</translation>
    </message>
    <message>
        <source>on %1 × %2, %3, engine %4</source>
        <translation>%1 × %2, %3, 엔진 %4</translation>
    </message>
    <message>
        <source>%1 of %2 tokens, K %3, V %4%5</source>
        <translation>토큰 %2개의 %1, K %3, V %4%5</translation>
    </message>
    <message>
        <source>required, engine %1, %2%3, context %4</source>
        <translation>필요량, 엔진 %1, %2%3, 컨텍스트 %4</translation>
    </message>
    <message>
        <source>; ↑ the layer whose cache others read</source>
        <translation>; ↑ 다른 레이어가 캐시를 읽는 레이어</translation>
    </message>
    <message>
        <source>; beyond the %1 tokens of %2</source>
        <translation>; %2의 토큰 %1개를 넘음</translation>
    </message>
    <message>
        <source>%1: at most %2 tokens take no more than the %3 of %4%5</source>
        <translation>%1: 토큰 최대 %2개까지 %4의 %3를 넘지 않음%5</translation>
    </message>
    <message>
        <source>from %1 tokens on %2 takes more than %3%4%5</source>
        <translation>토큰 %1개부터 %2이(가) %3보다 많이 차지함%4%5</translation>
    </message>
    <message>
        <source>; meetings of %1 alone</source>
        <translation>; %1의 교점만</translation>
    </message>
    <message>
        <source>, %1 of %2</source>
        <translation>, %2의 %1</translation>
    </message>
    <message>
        <source>Tokens read to write so many, without a cache and with one</source>
        <translation>이만큼 쓰기 위해 읽는 토큰, 캐시가 없을 때와 있을 때</translation>
    </message>
    <message>
        <source>at %1 tokens: %2 without a cache, every step from the first token on, n(n+1)/2; %1 with one</source>
        <translation>토큰 %1개에서: 캐시 없이 %2, 매 단계 첫 토큰부터 n(n+1)/2; 캐시가 있으면 %1</translation>
    </message>
    <message>
        <source>no cache</source>
        <translation>캐시 없음</translation>
    </message>
    <message>
        <source>; lines: all a device gives, weights not taken off</source>
        <translation>; 선: 장치가 주는 전부, 가중치는 빼지 않음</translation>
    </message>
    <message>
        <source>; numbers: tokens at which lines meet</source>
        <translation>; 숫자: 선이 만나는 토큰 수</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>그 밖에 %1개</translation>
    </message>
    <message>
        <source>without a cache: %1 tokens read, with one %2</source>
        <translation>캐시 없이 토큰 %1개를 읽음, 있으면 %2개</translation>
    </message>
    <message>
        <source>expected KEY=VALUE, found "%1"</source>
        <translation>KEY=VALUE여야 하는데 "%1"입니다</translation>
    </message>
    <message>
        <source>a number above 0, at most 1</source>
        <translation>0보다 크고 1 이하인 수</translation>
    </message>
    <message>
        <source>a whole number from 1</source>
        <translation>1 이상의 정수</translation>
    </message>
    <message>
        <source>a whole number from 1, or %1</source>
        <translation>1 이상의 정수 또는 %1</translation>
    </message>
    <message>
        <source>layers</source>
        <translation>레이어</translation>
    </message>
    <message>
        <source>kind</source>
        <translation>종류</translation>
    </message>
    <message>
        <source>component</source>
        <translation>구성 요소</translation>
    </message>
    <message>
        <source>units</source>
        <translation>단위</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>바이트</translation>
    </message>
    <message>
        <source>Saves:</source>
        <translation>절약:</translation>
    </message>
    <message>
        <source>Costs:</source>
        <translation>대가:</translation>
    </message>
    <message>
        <source>Published:</source>
        <translation>공개된 결과:</translation>
    </message>
    <message>
        <source>Verification</source>
        <translation>검증</translation>
    </message>
    <message>
        <source>Components at %1 tokens, one sequence</source>
        <translation>토큰 %1개, 시퀀스 하나의 구성 요소</translation>
    </message>
    <message>
        <source>Kinds of cache</source>
        <translation>캐시의 종류</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>비고</translation>
    </message>
    <message>
        <source>source: %1</source>
        <translation>출처: %1</translation>
    </message>
    <message>
        <source>computed by kvcaliper %1</source>
        <translation>kvcaliper %1이 계산함</translation>
    </message>
    <message>
        <source>&lt;p&gt;Nothing contributes.&lt;/p&gt;</source>
        <translation>&lt;p&gt;더하는 항이 없습니다.&lt;/p&gt;</translation>
    </message>
    <message>
        <source>read as %1 (%2)</source>
        <translation>%1(으)로 읽음 (%2)</translation>
    </message>
    <message>
        <source>keeps</source>
        <translation>보관</translation>
    </message>
    <message>
        <source>saves</source>
        <translation>절약</translation>
    </message>
    <message>
        <source>costs</source>
        <translation>대가</translation>
    </message>
    <message>
        <source>published</source>
        <translation>공개된 결과</translation>
    </message>
    <message>
        <source>source</source>
        <translation>출처</translation>
    </message>
    <message>
        <source>K</source>
        <translation>K</translation>
    </message>
    <message>
        <source>V</source>
        <translation>V</translation>
    </message>
    <message>
        <source>index keys</source>
        <translation>인덱스 키</translation>
    </message>
    <message>
        <source>convolution history</source>
        <translation>합성곱 이력</translation>
    </message>
    <message>
        <source>recurrent states</source>
        <translation>순환 상태</translation>
    </message>
    <message>
        <source>%1 / %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>K finer than V</source>
        <translation>K가 V보다 정밀</translation>
    </message>
    <message>
        <source>V finer than K</source>
        <translation>V가 K보다 정밀</translation>
    </message>
    <message>
        <source>K and V take as much</source>
        <translation>K와 V가 같은 크기</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>%1 per token</source>
        <translation>토큰당 %1</translation>
    </message>
    <message>
        <source>%1, bytes per token and error of outputs: %2</source>
        <translation>%1, 토큰당 바이트와 출력 오차: %2</translation>
    </message>
    <message>
        <source>; </source>
        <translation>; </translation>
    </message>
    <message>
        <source>KV cache of %1, per token</source>
        <translation>%1의 토큰당 KV 캐시</translation>
    </message>
    <message>
        <source>error of attention outputs</source>
        <translation>어텐션 출력의 오차</translation>
    </message>
    <message>
        <source>What K and V formats cost in outputs</source>
        <translation>K와 V 형식이 출력에서 치르는 대가</translation>
    </message>
    <message>
        <source>measured on the CPU: %1 heads over %2 tokens, seed %3; one key channel in %4 is %5 times as large, as in real caches (KIVI), and scores are peaky; dashed: what nothing undercuts; names: K / V</source>
        <translation>CPU에서 측정: 토큰 %2개에 대한 헤드 %1개, 시드 %3; 키 채널 %4개 중 하나가 실제 캐시처럼(KIVI) %5배 크고 점수가 뾰족함; 점선: 더 나은 것이 없는 경계; 이름: K / V</translation>
    </message>
    <message>
        <source>, driver %1</source>
        <translation>, 드라이버 %1</translation>
    </message>
    <message>
        <source>%1, %2%3, kvcaliper %4, seed %5</source>
        <translation>%1, %2%3, kvcaliper %4, 시드 %5</translation>
    </message>
    <message>
        <source>CUDA kernels of %1: run on a GPU.</source>
        <translation>%1의 CUDA 커널: GPU에서 실행됨.</translation>
    </message>
    <message>
        <source>CUDA kernels of %1: run on %2, %3.</source>
        <translation>%1의 CUDA 커널: %2에서 실행됨, %3.</translation>
    </message>
    <message>
        <source>computed</source>
        <translation>계산됨</translation>
    </message>
    <message>
        <source>✓ measured</source>
        <translation>✓ 측정됨</translation>
    </message>
    <message>
        <source>✗ refuted</source>
        <translation>✗ 반증됨</translation>
    </message>
    <message>
        <source>△ stale</source>
        <translation>△ 오래됨</translation>
    </message>
    <message>
        <source>✓ equal</source>
        <translation>✓ 일치</translation>
    </message>
    <message>
        <source>disturbed</source>
        <translation>방해받음</translation>
    </message>
    <message>
        <source>✓ Equal to the byte: measured what was predicted, on %1.</source>
        <translation>✓ 바이트까지 일치: %1에서 예측한 만큼 측정됨.</translation>
    </message>
    <message>
        <source>✓ Equal to the byte: allocated what was predicted, on %1; no decode step was run.</source>
        <translation>✓ 바이트까지 일치: %1에서 예측한 만큼 할당됨; 디코드 단계는 실행하지 않음.</translation>
    </message>
    <message>
        <source>✗ Refuted: measured something else than predicted, on %1.</source>
        <translation>✗ 반증됨: %1에서 예측과 다르게 측정됨.</translation>
    </message>
    <message>
        <source>Disturbed: other programs changed the memory of %1; run again.</source>
        <translation>방해받음: 다른 프로그램이 %1의 메모리를 바꾸었습니다. 다시 실행하세요.</translation>
    </message>
    <message>
        <source>△ Stale: measured on %1, against another prediction than today's: %2.</source>
        <translation>△ 오래됨: %1에서 지금과 다른 예측에 대해 측정함: %2.</translation>
    </message>
    <message>
        <source>Computed: no record of a run covers exactly this model, context, number of sequences and formats.</source>
        <translation>계산됨: 바로 이 모델, 컨텍스트, 시퀀스 수, 형식을 다룬 실행 기록이 없습니다.</translation>
    </message>
    <message>
        <source>✓ Measured %1 with exactly this model, context, number of sequences and formats, on %2.</source>
        <translation>✓ 바로 이 모델, 컨텍스트, 시퀀스 수, 형식으로 %2에서 %1 측정됨.</translation>
    </message>
    <message>
        <source>✗ Refuted on %1: %2.</source>
        <translation>✗ %1에서 반증됨: %2.</translation>
    </message>
    <message>
        <source>CUDA kernels: executed by emulation only, never on a GPU.</source>
        <translation>CUDA 커널: 에뮬레이션으로만 실행되었고 GPU에서는 실행된 적이 없습니다.</translation>
    </message>
    <message>
        <source>CUDA kernels of %1 have run on a GPU; those of all other kinds of layers: executed by emulation only, never on a GPU.</source>
        <translation>%1의 CUDA 커널은 GPU에서 실행되었습니다. 다른 모든 레이어 종류는 에뮬레이션으로만 실행되었고 GPU에서는 실행된 적이 없습니다.</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>부하</translation>
    </message>
    <message>
        <source>%1 of %2 tokens at once</source>
        <translation>토큰 %2개의 %1 동시에</translation>
    </message>
    <message>
        <source>asked: %1 K, %2 V</source>
        <translation>요청: K %1, V %2</translation>
    </message>
    <message>
        <source>Formats of K and V</source>
        <translation>K와 V의 형식</translation>
    </message>
    <message>
        <source>no model has an answer (%1)</source>
        <translation>답이 있는 모델이 없음 (%1)</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source> or </source>
        <translation> 또는 </translation>
    </message>
    <message>
        <source>Device</source>
        <translation>장치</translation>
    </message>
    <message>
        <source>%1 × %2 with %3, %4</source>
        <translation>%1 × %2, %3, %4</translation>
    </message>
    <message>
        <source>the vendor's size: look what the driver reports</source>
        <translation>제조사가 밝힌 크기: 드라이버가 보고하는 값을 확인하세요</translation>
    </message>
    <message>
        <source>as the driver reports it</source>
        <translation>드라이버가 보고하는 값</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>엔진</translation>
    </message>
    <message>
        <source>none is named: bytes are those the architecture requires, and what an engine sets aside beyond them is not counted</source>
        <translation>정하지 않음: 바이트는 구조가 필요로 하는 양이며, 엔진이 그 밖에 잡아 두는 양은 세지 않음</translation>
    </message>
    <message>
        <source>%1, by the rules of %2</source>
        <translation>%1, %2의 규칙에 따름</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>없음</translation>
    </message>
    <message>
        <source>What fits</source>
        <translation>들어가는 것</translation>
    </message>
    <message>
        <source>all: %1</source>
        <translation>전부: %1</translation>
    </message>
    <message>
        <source>fits: %1. Does not, or has no answer: %2.</source>
        <translation>들어감: %1. 안 들어가거나 답이 없음: %2.</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>측정됨</translation>
    </message>
    <message>
        <source>a record is stale: this version predicts something else; it does not count here</source>
        <translation>기록이 오래됨: 이 버전은 다르게 예측하므로 여기서는 세지 않음</translation>
    </message>
    <message>
        <source>not measured: every figure of this model is computed</source>
        <translation>측정하지 않음: 이 모델의 모든 수치는 계산한 값</translation>
    </message>
    <message>
        <source>What was measured</source>
        <translation>측정한 것</translation>
    </message>
    <message>
        <source>%1. Not measured: %2. kvcaliper verify MODEL runs it.</source>
        <translation>%1. 측정하지 않음: %2. kvcaliper verify MODEL로 실행합니다.</translation>
    </message>
    <message>
        <source>at most %1 of this context, or %2 with these sequences</source>
        <translation>이 컨텍스트로 최대 %1, 또는 이 시퀀스 수로 %2</translation>
    </message>
    <message>
        <source>Headroom</source>
        <translation>여유</translation>
    </message>
    <message>
        <source>%1 free; %2</source>
        <translation>%1 남음; %2</translation>
    </message>
    <message>
        <source>%1 missing; %2</source>
        <translation>%1 부족; %2</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>컨텍스트</translation>
    </message>
    <message>
        <source>the config states no maximum</source>
        <translation>설정에 최대값이 없음</translation>
    </message>
    <message>
        <source>the model's maximum is %1 tokens</source>
        <translation>모델의 최대는 토큰 %1개</translation>
    </message>
    <message>
        <source>%1: these %2 are beyond it</source>
        <translation>%1: 이 %2은(는) 이를 넘음</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source> (± %1 %)</source>
        <translation> (± %1 %)</translation>
    </message>
    <message>
        <source>; counted on each device: %1</source>
        <translation>; 장치마다 셈: %1</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>가중치</translation>
    </message>
    <message>
        <source>; look at the files that will be loaded</source>
        <translation>; 불러올 파일을 확인하세요</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>캐시</translation>
    </message>
    <message>
        <source>%1 on each device (%2), %3</source>
        <translation>장치마다 %1 (%2), %3</translation>
    </message>
    <message>
        <source>Workspace</source>
        <translation>작업 공간</translation>
    </message>
    <message>
        <source>%1, given</source>
        <translation>%1, 주어진 값</translation>
    </message>
    <message>
        <source>none is counted: activations, graphs and the device's context come on top</source>
        <translation>세지 않음: 활성값, 그래프, 장치 컨텍스트가 더해짐</translation>
    </message>
    <message>
        <source>%1, assumed: only a run knows it</source>
        <translation>%1, 가정: 실행해야 알 수 있음</translation>
    </message>
    <message>
        <source>%1 (%2): %3 free</source>
        <translation>%1 (%2): %3 남음</translation>
    </message>
    <message>
        <source>%1, lacks %2 under its own rules:</source>
        <translation>%1, 자체 규칙으로 %2 부족:</translation>
    </message>
    <message>
        <source>%1, %2 free:</source>
        <translation>%1, %2 남음:</translation>
    </message>
    <message>
        <source>%1, its reservation is not known here:</source>
        <translation>%1, 예약량은 여기서 알 수 없음:</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>측정</translation>
    </message>
    <message>
        <source>What would make it fit, the cheapest first:</source>
        <translation>들어가게 하는 방법, 대가가 적은 순서:</translation>
    </message>
    <message>
        <source>What this rests on:</source>
        <translation>이것이 근거하는 것:</translation>
    </message>
    <message>
        <source>Again:</source>
        <translation>다시 만들기:</translation>
    </message>
    <message>
        <source>No answer</source>
        <translation>답 없음</translation>
    </message>
    <message>
        <source>Deployment checklist</source>
        <translation>배포 점검표</translation>
    </message>
    <message>
        <source>☑ settled   ☒ stands in the way   ☐ assumed or unknown: somebody has to look</source>
        <translation>☑ 확정   ☒ 걸림돌   ☐ 가정이거나 모름: 누군가 확인해야 함</translation>
    </message>
    <message>
        <source>%1 of %2 tokens</source>
        <translation>토큰 %2개의 %1</translation>
    </message>
    <message>
        <source>whether it fits %1 can not be told</source>
        <translation>들어가는지(%1) 알 수 없음</translation>
    </message>
    <message>
        <source>fits %1 with %2 free</source>
        <translation>%1에 들어가고 %2 남음</translation>
    </message>
    <message>
        <source>does not fit %1: %2 are missing</source>
        <translation>%1에 들어가지 않음: %2 부족</translation>
    </message>
    <message>
        <source>%1 keeps %2 for %3, and %4.</source>
        <translation>%1은(는) %3에 %2을(를) 보관하며, %4.</translation>
    </message>
    <message>
        <source>For %1, %2 keeps least with %3 and %4 keeps most with %5; %6 of %7 models fit %8.</source>
        <translation>%1에서 %2이(가) %3로 가장 적게, %4이(가) %5로 가장 많이 보관합니다. 모델 %7개 중 %6개가 들어갑니다 (%8).</translation>
    </message>
    <message>
        <source>No model is ticked, so there is nothing to answer.</source>
        <translation>선택한 모델이 없어 답할 것이 없습니다.</translation>
    </message>
    <message>
        <source>None of the models has an answer.</source>
        <translation>답이 있는 모델이 없습니다.</translation>
    </message>
    <message>
        <source>%1 models</source>
        <translation>모델 %1개</translation>
    </message>
    <message>
        <source>Cache memory of %1</source>
        <translation>%1의 캐시 메모리</translation>
    </message>
    <message>
        <source>Comparison</source>
        <translation>비교</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Over the context</source>
        <translation>컨텍스트에 따라</translation>
    </message>
    <message>
        <source>Bytes of all sequences. In brackets: past the model's own maximum.</source>
        <translation>모든 시퀀스의 바이트. 괄호: 모델의 최대를 넘은 값.</translation>
    </message>
    <message>
        <source>Layer by layer</source>
        <translation>레이어별</translation>
    </message>
    <message>
        <source>On the device</source>
        <translation>장치에서</translation>
    </message>
    <message>
        <source>Setting</source>
        <translation>설정</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>값</translation>
    </message>
    <message>
        <source>Sequences</source>
        <translation>시퀀스</translation>
    </message>
    <message>
        <source>K format</source>
        <translation>K 형식</translation>
    </message>
    <message>
        <source>V format</source>
        <translation>V 형식</translation>
    </message>
    <message>
        <source>Index key format</source>
        <translation>인덱스 키 형식</translation>
    </message>
    <message>
        <source>Convolution format</source>
        <translation>합성곱 형식</translation>
    </message>
    <message>
        <source>State format</source>
        <translation>상태 형식</translation>
    </message>
    <message>
        <source>Baseline</source>
        <translation>기준</translation>
    </message>
    <message>
        <source>none</source>
        <translation>없음</translation>
    </message>
    <message>
        <source>Budget</source>
        <translation>예산</translation>
    </message>
    <message>
        <source>Weights of %1</source>
        <translation>%1의 가중치</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>설정</translation>
    </message>
    <message>
        <source>read as %1 (%2): %3</source>
        <translation>%1(으)로 읽음 (%2): %3</translation>
    </message>
    <message>
        <source>Notes on the models</source>
        <translation>모델에 대한 비고</translation>
    </message>
    <message>
        <source>%1: a config of this study</source>
        <translation>%1: 이 연구의 설정</translation>
    </message>
    <message>
        <source>%1: an edited copy of %2</source>
        <translation>%1: %2의 편집된 사본</translation>
    </message>
    <message>
        <source>engine %1: %2</source>
        <translation>엔진 %1: %2</translation>
    </message>
    <message>
        <source>Rules of the architectures and all figures: kvcaliper %1</source>
        <translation>구조의 규칙과 모든 수치: kvcaliper %1</translation>
    </message>
    <message>
        <source>Sources</source>
        <translation>출처</translation>
    </message>
    <message>
        <source>This report again</source>
        <translation>이 보고서를 다시 만들기</translation>
    </message>
    <message>
        <source>This file carries the whole study. It opens in the window, and charts, tables and reports are made from it:</source>
        <translation>이 파일에는 연구 전체가 들어 있습니다. 창에서 열 수 있고, 차트와 표와 보고서를 만들 수 있습니다:</translation>
    </message>
    <message>
        <source>Open:</source>
        <translation>열기:</translation>
    </message>
    <message>
        <source>Report:</source>
        <translation>보고서:</translation>
    </message>
    <message>
        <source>kvcaliper %1, %2</source>
        <translation>kvcaliper %1, %2</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>레이어</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>종류</translation>
    </message>
    <message>
        <source>Component</source>
        <translation>구성 요소</translation>
    </message>
    <message>
        <source>Elements</source>
        <translation>원소</translation>
    </message>
    <message>
        <source>Units</source>
        <translation>단위</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>형식</translation>
    </message>
    <message>
        <source>Decided by</source>
        <translation>결정한 것</translation>
    </message>
    <message>
        <source>Bytes at %1 tokens, %2 sequence(s) (B)</source>
        <translation>토큰 %1개, 시퀀스 %2개에서의 바이트 (B)</translation>
    </message>
    <message>
        <source>%1: expected a name ending in .csv, .tsv, .md or .json</source>
        <translation>%1: .csv, .tsv, .md, .json으로 끝나는 이름이어야 합니다</translation>
    </message>
    <message>
        <source>CUDA kernels of %1: executed by emulation only, never on a GPU.</source>
        <translation>%1의 CUDA 커널: 에뮬레이션으로만 실행되었고 GPU에서는 실행된 적이 없습니다.</translation>
    </message>
    <message>
        <source>%1: %2 usable of %3</source>
        <translation>%1: %3 중 사용 가능 %2</translation>
    </message>
    <message>
        <source>%1: %2 device memory</source>
        <translation>%1: 장치 메모리 %2</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::BudgetPage</name>
    <message>
        <source>any</source>
        <translation>무제한</translation>
    </message>
    <message>
        <source>✓ fits</source>
        <translation>✓ 들어감</translation>
    </message>
    <message>
        <source>✗ does not</source>
        <translation>✗ 안 들어감</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>장치</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>엔진</translation>
    </message>
    <message>
        <source>auto, or 16 GB</source>
        <translation>auto 또는 16 GB</translation>
    </message>
    <message>
        <source>Weights of the chosen model</source>
        <translation>선택한 모델의 가중치</translation>
    </message>
    <message>
        <source>&amp;Device</source>
        <translation>장치(&amp;D)</translation>
    </message>
    <message>
        <source>En&amp;gine</source>
        <translation>엔진(&amp;G)</translation>
    </message>
    <message>
        <source>%1; %2</source>
        <translation>%1; %2</translation>
    </message>
    <message>
        <source>Budgets of the ticked models</source>
        <translation>선택한 모델들의 메모리 예산</translation>
    </message>
    <message>
        <source>Budget of the chosen model</source>
        <translation>선택한 모델의 메모리 예산</translation>
    </message>
    <message>
        <source>&amp;Weights of %1</source>
        <translation>%1의 가중치(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Weights</source>
        <translation>가중치(&amp;W)</translation>
    </message>
    <message>
        <source>&lt;p&gt;Tick a model to see what it needs.&lt;/p&gt;</source>
        <translation>&lt;p&gt;모델을 선택하면 필요한 메모리가 표시됩니다.&lt;/p&gt;</translation>
    </message>
    <message>
        <source>&amp;TP</source>
        <translation>&amp;TP</translation>
    </message>
    <message>
        <source>Tensor ranks: they divide the heads</source>
        <translation>텐서 랭크: 헤드를 나눔</translation>
    </message>
    <message>
        <source>&amp;PP</source>
        <translation>&amp;PP</translation>
    </message>
    <message>
        <source>Pipeline stages: they divide the layers</source>
        <translation>파이프라인 단계: 레이어를 나눔</translation>
    </message>
    <message>
        <source>CP</source>
        <translation>CP</translation>
    </message>
    <message>
        <source>Context ranks: they divide the tokens</source>
        <translation>컨텍스트 랭크: 토큰을 나눔</translation>
    </message>
    <message>
        <source>DP</source>
        <translation>DP</translation>
    </message>
    <message>
        <source>Data ranks: they divide the sequences</source>
        <translation>데이터 랭크: 시퀀스를 나눔</translation>
    </message>
    <message>
        <source>%1. No rule of engine %2 is known for more than 1.</source>
        <translation>%1. 엔진 %2에서 1을 넘는 경우의 규칙은 알려져 있지 않습니다.</translation>
    </message>
    <message>
        <source>&amp;Options…</source>
        <translation>옵션(&amp;O)…</translation>
    </message>
    <message>
        <source>&amp;Options (%1 set)</source>
        <translation>옵션(&amp;O) (%1개 설정)</translation>
    </message>
    <message>
        <source>Options of the engine, under the names of its own flags</source>
        <translation>엔진 자체 플래그 이름으로 된 엔진 옵션</translation>
    </message>
    <message>
        <source>This engine has no options.</source>
        <translation>이 엔진에는 옵션이 없습니다.</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>판정</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>가중치</translation>
    </message>
    <message>
        <source>Workspace</source>
        <translation>작업 공간</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>캐시</translation>
    </message>
    <message>
        <source>Headroom</source>
        <translation>여유</translation>
    </message>
    <message>
        <source>Most sequences</source>
        <translation>최대 시퀀스</translation>
    </message>
    <message>
        <source>Longest context</source>
        <translation>최장 컨텍스트</translation>
    </message>
    <message>
        <source>Weights (B)</source>
        <translation>가중치 (B)</translation>
    </message>
    <message>
        <source>Workspace (B)</source>
        <translation>작업 공간 (B)</translation>
    </message>
    <message>
        <source>Cache (B)</source>
        <translation>캐시 (B)</translation>
    </message>
    <message>
        <source>Headroom (B)</source>
        <translation>여유 (B)</translation>
    </message>
    <message>
        <source>Longest context (tokens)</source>
        <translation>최장 컨텍스트 (토큰)</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::ClaimsPage</name>
    <message>
        <source>Claim:</source>
        <translation>주장:</translation>
    </message>
    <message>
        <source>Claimed:</source>
        <translation>주장한 값:</translation>
    </message>
    <message>
        <source>Computed:</source>
        <translation>계산한 값:</translation>
    </message>
    <message>
        <source>Verdict:</source>
        <translation>판정:</translation>
    </message>
    <message>
        <source>Reading:</source>
        <translation>해석:</translation>
    </message>
    <message>
        <source>Notes:</source>
        <translation>비고:</translation>
    </message>
    <message>
        <source>Source:</source>
        <translation>출처:</translation>
    </message>
    <message>
        <source>Claim</source>
        <translation>주장</translation>
    </message>
    <message>
        <source>Claimed</source>
        <translation>주장한 값</translation>
    </message>
    <message>
        <source>Computed</source>
        <translation>계산한 값</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>판정</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>해석</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>출처</translation>
    </message>
    <message>
        <source>Claims</source>
        <translation>주장</translation>
    </message>
    <message>
        <source>The chosen claim</source>
        <translation>선택한 주장</translation>
    </message>
    <message>
        <source>Claims file</source>
        <translation>주장 파일</translation>
    </message>
    <message>
        <source>seed: the story</source>
        <translation>seed: 기본 이야기</translation>
    </message>
    <message>
        <source>gallery: 72 published figures</source>
        <translation>gallery: 공개된 수치 72개</translation>
    </message>
    <message>
        <source>Search claims</source>
        <translation>주장 검색</translation>
    </message>
    <message>
        <source>Open &amp;file…</source>
        <translation>파일 열기(&amp;F)…</translation>
    </message>
    <message>
        <source>Open claims</source>
        <translation>주장 파일 열기</translation>
    </message>
    <message>
        <source>Claims (*.json);;All files (*)</source>
        <translation>주장 (*.json);;모든 파일 (*)</translation>
    </message>
    <message>
        <source>Not opened: %1</source>
        <translation>열지 못함: %1</translation>
    </message>
    <message>
        <source>%1 of %2 are consistent as written</source>
        <translation>%2개 중 %1개가 쓰인 그대로 일치합니다</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::CompareModel</name>
    <message>
        <source>Model</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>어텐션</translation>
    </message>
    <message>
        <source>Uncapped
per token</source>
        <translation>토큰당
상한 없음</translation>
    </message>
    <message>
        <source>Growth
per token</source>
        <translation>토큰당
증가분</translation>
    </message>
    <message>
        <source>Constant</source>
        <translation>고정분</translation>
    </message>
    <message>
        <source>Total at
%1</source>
        <translation>합계
%1</translation>
    </message>
    <message>
        <source>Ratio</source>
        <translation>비율</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>레이어</translation>
    </message>
    <message>
        <source>Uncapped (B/token)</source>
        <translation>상한 없음 (B/토큰)</translation>
    </message>
    <message>
        <source>Growth (B/token)</source>
        <translation>증가분 (B/토큰)</translation>
    </message>
    <message>
        <source>Constant (B/sequence)</source>
        <translation>고정분 (B/시퀀스)</translation>
    </message>
    <message>
        <source>Total at %1 tokens, %2 sequence(s) (B)</source>
        <translation>토큰 %1개, 시퀀스 %2개에서의 합계 (B)</translation>
    </message>
    <message>
        <source>Ratio to %1</source>
        <translation>%1 대비 비율</translation>
    </message>
    <message>
        <source>Bold: the baseline. Choose another in the context menu.</source>
        <translation>굵은 글씨: 기준 모델. 컨텍스트 메뉴에서 바꿀 수 있습니다.</translation>
    </message>
    <message>
        <source>The kinds of layers, in order of appearance</source>
        <translation>나타나는 순서대로 본 레이어 종류</translation>
    </message>
    <message>
        <source>Every attention layer counted as growing: what most published tables print</source>
        <translation>모든 어텐션 레이어가 늘어난다고 센 값: 공개된 표 대부분이 싣는 수치</translation>
    </message>
    <message>
        <source>What one more token adds at the model's maximum context</source>
        <translation>모델의 최대 컨텍스트에서 토큰 하나가 더하는 양</translation>
    </message>
    <message>
        <source>Full windows and states, per sequence</source>
        <translation>가득 찬 윈도와 상태, 시퀀스당</translation>
    </message>
    <message>
        <source>All sequences at the chosen context</source>
        <translation>선택한 컨텍스트에서 모든 시퀀스의 합</translation>
    </message>
    <message>
        <source>Total at the context as a multiple of that of %1</source>
        <translation>컨텍스트에서의 합계가 %1의 몇 배인지</translation>
    </message>
    <message>
        <source>Layers that the model's config counts</source>
        <translation>모델 설정이 세는 레이어 수</translation>
    </message>
    <message>
        <source>the baseline</source>
        <translation>기준</translation>
    </message>
    <message>
        <source>○○○ none</source>
        <translation>○○○ 없음</translation>
    </message>
    <message>
        <source>●○○ low</source>
        <translation>●○○ 낮음</translation>
    </message>
    <message>
        <source>●●○ moderate</source>
        <translation>●●○ 보통</translation>
    </message>
    <message>
        <source>●●● high</source>
        <translation>●●● 높음</translation>
    </message>
    <message>
        <source>any</source>
        <translation>무제한</translation>
    </message>
    <message>
        <source>not searched yet</source>
        <translation>아직 찾지 않음</translation>
    </message>
    <message>
        <source>Can not be told: %1</source>
        <translation>알 수 없음: %1</translation>
    </message>
    <message>
        <source>sequences of %1 tokens %2</source>
        <translation>토큰 %1개의 시퀀스, %2</translation>
    </message>
    <message>
        <source>%1 per token (%2 for %3 tokens)</source>
        <translation>토큰당 %1 (토큰 %3개에 %2)</translation>
    </message>
    <message>
        <source>Low: up to %1; moderate: up to %2; high: more.</source>
        <translation>낮음: %1까지; 보통: %2까지; 높음: 그 이상.</translation>
    </message>
    <message>
        <source>Grows by %1 per token at the model's maximum context.</source>
        <translation>모델의 최대 컨텍스트에서 토큰당 %1씩 늘어남.</translation>
    </message>
    <message>
        <source>%1, %2 against %3</source>
        <translation>%1, %3 대비 %2</translation>
    </message>
    <message>
        <source>%1; %2 against %3</source>
        <translation>%1; %3 대비 %2</translation>
    </message>
    <message>
        <source>Most
sequences</source>
        <translation>최대
시퀀스</translation>
    </message>
    <message>
        <source>Growth is</source>
        <translation>증가</translation>
    </message>
    <message>
        <source>Most sequences %1</source>
        <translation>최대 시퀀스, %1</translation>
    </message>
    <message>
        <source>As many sequences of the context as fit %1; chosen on the Budget page</source>
        <translation>이 컨텍스트의 시퀀스가 들어가는 수, %1; 예산 페이지에서 선택</translation>
    </message>
    <message>
        <source>Low, moderate or high, by what one more token adds</source>
        <translation>토큰 하나가 더하는 양에 따른 낮음, 보통, 높음</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::ComparePage</name>
    <message>
        <source>Figures of the ticked models</source>
        <translation>선택한 모델들의 수치</translation>
    </message>
    <message>
        <source>Use as &amp;baseline</source>
        <translation>기준으로 사용(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Remove from the comparison</source>
        <translation>비교에서 빼기(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Difference from the baseline</source>
        <translation>기준과의 차이(&amp;D)</translation>
    </message>
    <message>
        <source>Filter by name, vendor, kind or model_type</source>
        <translation>이름, 제조사, 종류, model_type으로 거르기</translation>
    </message>
    <message>
        <source>Filter the table</source>
        <translation>표 거르기</translation>
    </message>
    <message>
        <source>Behind each number, how much more or less than the baseline it is</source>
        <translation>각 수치 뒤에 기준보다 얼마나 많거나 적은지 표시</translation>
    </message>
    <message>
        <source>1 model</source>
        <translation>모델 1개</translation>
    </message>
    <message>
        <source>%1 models</source>
        <translation>모델 %1개</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%2개 중 %1개</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::ContextPage</name>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>Mar&amp;k meetings</source>
        <translation>교점 표시(&amp;K)</translation>
    </message>
    <message>
        <source>&amp;Linear axes</source>
        <translation>선형 축(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Without a cache</source>
        <translation>캐시 없이(&amp;W)</translation>
    </message>
    <message>
        <source>Devices whose memory is a line</source>
        <translation>메모리를 선으로 그릴 장치</translation>
    </message>
    <message>
        <source>Draw a line at the memory of a GPU</source>
        <translation>GPU 메모리에 선 긋기</translation>
    </message>
    <message>
        <source>Where curves meet each other and the lines of devices, to the token</source>
        <translation>곡선끼리, 그리고 장치의 선과 만나는 곳, 토큰 단위로</translation>
    </message>
    <message>
        <source>Both axes linear instead of logarithmic</source>
        <translation>두 축을 로그 대신 선형으로</translation>
    </message>
    <message>
        <source>The tokens read without a cache, in a chart of their own below</source>
        <translation>캐시 없이 읽는 토큰, 아래의 별도 차트에</translation>
    </message>
    <message>
        <source>&amp;None</source>
        <translation>없음(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;GPU lines</source>
        <translation>GPU 선(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;GPU lines: %1</source>
        <translation>GPU 선(&amp;G): %1</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::EngineOptionModel</name>
    <message>
        <source>%1 has no such option: empty its value to remove it</source>
        <translation>%1에는 그런 옵션이 없음: 값을 비우면 없어집니다</translation>
    </message>
    <message>
        <source>Option</source>
        <translation>옵션</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>값</translation>
    </message>
    <message>
        <source>Default</source>
        <translation>기본값</translation>
    </message>
    <message>
        <source>Meaning</source>
        <translation>뜻</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::EngineOptionsPanel</name>
    <message>
        <source>Options of the engine</source>
        <translation>엔진의 옵션</translation>
    </message>
    <message>
        <source>An option as KEY=VALUE</source>
        <translation>KEY=VALUE 꼴의 옵션</translation>
    </message>
    <message>
        <source>KEY=VALUE</source>
        <translation>KEY=VALUE</translation>
    </message>
    <message>
        <source>Se&amp;t</source>
        <translation>설정(&amp;T)</translation>
    </message>
    <message>
        <source>O&amp;ption</source>
        <translation>옵션(&amp;P)</translation>
    </message>
    <message>
        <source>Del: back to the default</source>
        <translation>Del: 기본값으로</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::ExplainPanel</name>
    <message>
        <source>Figure to explain</source>
        <translation>설명할 수치</translation>
    </message>
    <message>
        <source>Uncapped per token</source>
        <translation>토큰당, 상한 없음</translation>
    </message>
    <message>
        <source>Growth per token</source>
        <translation>토큰당 증가분</translation>
    </message>
    <message>
        <source>Constant per sequence</source>
        <translation>시퀀스당 고정분</translation>
    </message>
    <message>
        <source>Total at the context</source>
        <translation>컨텍스트에서의 합계</translation>
    </message>
    <message>
        <source>Terms of the figure</source>
        <translation>수치의 항</translation>
    </message>
    <message>
        <source>No model</source>
        <translation>모델 없음</translation>
    </message>
    <message>
        <source>&lt;p&gt;Tick a model in the list to see how its figures are made up.&lt;/p&gt;</source>
        <translation>&lt;p&gt;목록에서 모델을 선택하면 수치가 어떻게 이루어지는지 표시됩니다.&lt;/p&gt;</translation>
    </message>
    <message>
        <source>Cop&amp;y</source>
        <translation>복사(&amp;Y)</translation>
    </message>
    <message>
        <source>Copy the explanation</source>
        <translation>설명 복사</translation>
    </message>
    <message>
        <source>As &amp;text</source>
        <translation>텍스트로(&amp;T)</translation>
    </message>
    <message>
        <source>As &amp;Markdown</source>
        <translation>Markdown으로(&amp;M)</translation>
    </message>
    <message>
        <source>How this figure is known: %1</source>
        <translation>이 수치의 근거: %1</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::FormatBox</name>
    <message>
        <source>auto (%1)</source>
        <translation>auto (%1)</translation>
    </message>
    <message>
        <source>checkpoint</source>
        <translation>checkpoint</translation>
    </message>
    <message>
        <source>No ticked model keeps %1.</source>
        <translation>선택한 모델 중 %1을(를) 보관하는 것이 없습니다.</translation>
    </message>
    <message>
        <source>%1: its file asks for no format of K and V</source>
        <translation>%1: 파일이 K와 V의 형식을 정하지 않음</translation>
    </message>
    <message>
        <source>what each model's file asks for</source>
        <translation>모델마다 파일이 정한 것</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::LayersPage</name>
    <message>
        <source>Layer</source>
        <translation>레이어</translation>
    </message>
    <message>
        <source>&lt;p style='margin:0'&gt;&lt;b&gt;%1, layer %2: %3&lt;/b&gt;&lt;br&gt;decided by %4&lt;/p&gt;</source>
        <translation>&lt;p style='margin:0'&gt;&lt;b&gt;%1, 레이어 %2: %3&lt;/b&gt;&lt;br&gt;결정한 것: %4&lt;/p&gt;</translation>
    </message>
    <message>
        <source>&lt;p style='margin:0'&gt;reads the cache of layer %1&lt;/p&gt;</source>
        <translation>&lt;p style='margin:0'&gt;레이어 %1의 캐시를 읽음&lt;/p&gt;</translation>
    </message>
    <message>
        <source>&lt;table cellspacing='0' cellpadding='3'&gt;&lt;tr&gt;&lt;th align='left'&gt;component&lt;/th&gt;&lt;th align='left'&gt;one unit&lt;/th&gt;&lt;th align='left'&gt;units&lt;/th&gt;&lt;th align='left'&gt;format&lt;/th&gt;&lt;th align='right'&gt;bytes at %1&lt;/th&gt;&lt;/tr&gt;</source>
        <translation>&lt;table cellspacing='0' cellpadding='3'&gt;&lt;tr&gt;&lt;th align='left'&gt;구성 요소&lt;/th&gt;&lt;th align='left'&gt;한 단위&lt;/th&gt;&lt;th align='left'&gt;단위 수&lt;/th&gt;&lt;th align='left'&gt;형식&lt;/th&gt;&lt;th align='right'&gt;%1에서의 바이트&lt;/th&gt;&lt;/tr&gt;</translation>
    </message>
    <message>
        <source>Model whose layer is shown</source>
        <translation>레이어를 보여 줄 모델</translation>
    </message>
    <message>
        <source>What the layer keeps</source>
        <translation>레이어가 보관하는 것</translation>
    </message>
    <message>
        <source>&amp;Layer</source>
        <translation>레이어(&amp;L)</translation>
    </message>
    <message>
        <source>&lt;p style='margin:0'&gt;read by layers %1 too&lt;/p&gt;</source>
        <translation>&lt;p style='margin:0'&gt;레이어 %1도 읽음&lt;/p&gt;</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::LogSlider</name>
    <message>
        <source>%1, logarithmic slider</source>
        <translation>%1, 로그 슬라이더</translation>
    </message>
    <message>
        <source>%1 — accepts 100000, 128K or 1M</source>
        <translation>%1 — 100000, 128K, 1M처럼 입력</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::MainWindow</name>
    <message>
        <source>&amp;Compare</source>
        <translation>비교(&amp;C)</translation>
    </message>
    <message>
        <source>C&amp;ontext</source>
        <translation>컨텍스트(&amp;O)</translation>
    </message>
    <message>
        <source>L&amp;ayers</source>
        <translation>레이어(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Budget</source>
        <translation>예산(&amp;B)</translation>
    </message>
    <message>
        <source>Clai&amp;ms</source>
        <translation>주장(&amp;M)</translation>
    </message>
    <message>
        <source>Veri&amp;fy</source>
        <translation>검증(&amp;F)</translation>
    </message>
    <message>
        <source>Scenario</source>
        <translation>시나리오</translation>
    </message>
    <message>
        <source>Explain</source>
        <translation>설명</translation>
    </message>
    <message>
        <source>Edit model</source>
        <translation>모델 편집</translation>
    </message>
    <message>
        <source>Not opened: %1</source>
        <translation>열지 못함: %1</translation>
    </message>
    <message>
        <source>Only files and folders of this machine can be dropped here.</source>
        <translation>이 컴퓨터의 파일과 폴더만 끌어다 놓을 수 있습니다.</translation>
    </message>
    <message>
        <source>&amp;New study</source>
        <translation>새 연구(&amp;N)</translation>
    </message>
    <message>
        <source>Start over with the opening comparison</source>
        <translation>처음의 비교로 새로 시작</translation>
    </message>
    <message>
        <source>&amp;Open…</source>
        <translation>열기(&amp;O)…</translation>
    </message>
    <message>
        <source>Open a study, or add the model of a config.json to this one</source>
        <translation>연구를 열거나 config.json의 모델을 이 연구에 더하기</translation>
    </message>
    <message>
        <source>Open &amp;recent</source>
        <translation>최근 항목(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Save study</source>
        <translation>연구 저장(&amp;S)</translation>
    </message>
    <message>
        <source>Save study &amp;as…</source>
        <translation>다른 이름으로 저장(&amp;A)…</translation>
    </message>
    <message>
        <source>Ctrl+Shift+S</source>
        <translation>Ctrl+Shift+S</translation>
    </message>
    <message>
        <source>Open a study or models</source>
        <translation>연구나 모델 열기</translation>
    </message>
    <message>
        <source>A study is opened alone: %1; the other files were left out.</source>
        <translation>연구는 하나만 열립니다: %1; 다른 파일은 제외했습니다.</translation>
    </message>
    <message>
        <source>Not pasted: %1</source>
        <translation>붙여넣지 못함: %1</translation>
    </message>
    <message>
        <source>Save study</source>
        <translation>연구 저장</translation>
    </message>
    <message>
        <source>Studies (*.kvstudy.json)</source>
        <translation>연구 (*.kvstudy.json)</translation>
    </message>
    <message>
        <source>Replace %1?</source>
        <translation>%1을(를) 바꿀까요?</translation>
    </message>
    <message>
        <source>Not saved: %1</source>
        <translation>저장하지 못함: %1</translation>
    </message>
    <message>
        <source>Saved: %1</source>
        <translation>저장함: %1</translation>
    </message>
    <message>
        <source>Unsaved study</source>
        <translation>저장하지 않은 연구</translation>
    </message>
    <message>
        <source>Save the changes to %1?</source>
        <translation>%1의 변경 사항을 저장할까요?</translation>
    </message>
    <message>
        <source>&amp;Clear this list</source>
        <translation>목록 비우기(&amp;C)</translation>
    </message>
    <message>
        <source>%1[*] — kvcaliper</source>
        <translation>%1[*] — kvcaliper</translation>
    </message>
    <message>
        <source>Unsaved edits could not be kept: %1</source>
        <translation>저장하지 않은 편집을 보관하지 못함: %1</translation>
    </message>
    <message>
        <source>kvcaliper ended on %1 with unsaved edits to a study.</source>
        <translation>kvcaliper가 %1에 저장하지 않은 편집을 남기고 끝났습니다.</translation>
    </message>
    <message>
        <source>&amp;Recover them</source>
        <translation>복구(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Discard them</source>
        <translation>버리기(&amp;D)</translation>
    </message>
    <message>
        <source>Ask &amp;later</source>
        <translation>나중에 묻기(&amp;L)</translation>
    </message>
    <message>
        <source>Not recovered: %1</source>
        <translation>복구하지 못함: %1</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>파일(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Export chart…</source>
        <translation>차트 내보내기(&amp;E)…</translation>
    </message>
    <message>
        <source>Ctrl+E</source>
        <translation>Ctrl+E</translation>
    </message>
    <message>
        <source>Write the chart of this page as SVG, PDF or PNG</source>
        <translation>이 페이지의 차트를 SVG, PDF, PNG로 쓰기</translation>
    </message>
    <message>
        <source>Export &amp;table…</source>
        <translation>표 내보내기(&amp;T)…</translation>
    </message>
    <message>
        <source>Ctrl+Shift+E</source>
        <translation>Ctrl+Shift+E</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>끝내기(&amp;Q)</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>편집(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>실행 취소(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>다시 실행(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Copy table</source>
        <translation>표 복사(&amp;C)</translation>
    </message>
    <message>
        <source>Ctrl+Shift+C</source>
        <translation>Ctrl+Shift+C</translation>
    </message>
    <message>
        <source>&amp;Paste model</source>
        <translation>모델 붙여넣기(&amp;P)</translation>
    </message>
    <message>
        <source>Add the config.json on the clipboard to the comparison</source>
        <translation>클립보드의 config.json을 비교에 더하기</translation>
    </message>
    <message>
        <source>Edit a copy of the &amp;model</source>
        <translation>모델 사본 편집(&amp;M)</translation>
    </message>
    <message>
        <source>Ctrl+M</source>
        <translation>Ctrl+M</translation>
    </message>
    <message>
        <source>Change layers, heads, window or rank of the chosen model and compare</source>
        <translation>선택한 모델의 레이어, 헤드, 윈도, 랭크를 바꾸어 비교</translation>
    </message>
    <message>
        <source>&amp;Find a model</source>
        <translation>모델 찾기(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>보기(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Restore default layout</source>
        <translation>기본 배치로 되돌리기(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>테마(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>밝게(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>어둡게(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;System</source>
        <translation>시스템(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>도움말(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;About kvcaliper</source>
        <translation>kvcaliper 정보(&amp;A)</translation>
    </message>
    <message>
        <source>About &amp;Qt</source>
        <translation>Qt 정보(&amp;Q)</translation>
    </message>
    <message>
        <source>This page has no chart; its table can be exported.</source>
        <translation>이 페이지에는 차트가 없습니다. 표는 내보낼 수 있습니다.</translation>
    </message>
    <message>
        <source>Export chart</source>
        <translation>차트 내보내기</translation>
    </message>
    <message>
        <source>Charts (*.svg *.pdf *.png);;SVG (*.svg);;PDF (*.pdf);;PNG (*.png)</source>
        <translation>차트 (*.svg *.pdf *.png);;SVG (*.svg);;PDF (*.pdf);;PNG (*.png)</translation>
    </message>
    <message>
        <source>Not written: %1</source>
        <translation>쓰지 못함: %1</translation>
    </message>
    <message>
        <source>Written: %1</source>
        <translation>썼음: %1</translation>
    </message>
    <message>
        <source>Export table</source>
        <translation>표 내보내기</translation>
    </message>
    <message>
        <source>The table is on the clipboard, in exact bytes.</source>
        <translation>표를 정확한 바이트로 클립보드에 복사했습니다.</translation>
    </message>
    <message>
        <source>About kvcaliper</source>
        <translation>kvcaliper 정보</translation>
    </message>
    <message>
        <source>High &amp;contrast</source>
        <translation>고대비(&amp;C)</translation>
    </message>
    <message>
        <source>Tables (*.csv *.tsv *.md *.json);;CSV (*.csv);;TSV (*.tsv);;Markdown (*.md);;JSON (*.json)</source>
        <translation>표 (*.csv *.tsv *.md *.json);;CSV (*.csv);;TSV (*.tsv);;Markdown (*.md);;JSON (*.json)</translation>
    </message>
    <message>
        <source>Export report</source>
        <translation>보고서 내보내기</translation>
    </message>
    <message>
        <source>Reports (*.html *.pdf);;HTML (*.html);;PDF (*.pdf)</source>
        <translation>보고서 (*.html *.pdf);;HTML (*.html);;PDF (*.pdf)</translation>
    </message>
    <message>
        <source>Studies and models (*.json *.gguf);;Studies (*.kvstudy.json);;Exported reports and tables (*.html *.pdf *.csv *.tsv *.md *.json);;All files (*)</source>
        <translation>연구와 모델 (*.json *.gguf);;연구 (*.kvstudy.json);;내보낸 보고서와 표 (*.html *.pdf *.csv *.tsv *.md *.json);;모든 파일 (*)</translation>
    </message>
    <message>
        <source>Records left out: %1</source>
        <translation>제외한 기록: %1</translation>
    </message>
    <message>
        <source>&amp;Import records…</source>
        <translation>기록 가져오기(&amp;I)…</translation>
    </message>
    <message>
        <source>Add what kvcaliper verify --record wrote, such as on a machine with a GPU, to the history of runs</source>
        <translation>GPU가 있는 컴퓨터 등에서 kvcaliper verify --record가 쓴 것을 실행 이력에 더하기</translation>
    </message>
    <message>
        <source>Write the table of this page as CSV, TSV, Markdown or JSON, with exact bytes</source>
        <translation>이 페이지의 표를 정확한 바이트로 CSV, TSV, Markdown, JSON에 쓰기</translation>
    </message>
    <message>
        <source>Export &amp;report…</source>
        <translation>보고서 내보내기(&amp;R)…</translation>
    </message>
    <message>
        <source>Ctrl+R</source>
        <translation>Ctrl+R</translation>
    </message>
    <message>
        <source>Write answer, charts, tables, checklist and sources as HTML or PDF</source>
        <translation>답, 차트, 표, 점검표, 출처를 HTML이나 PDF로 쓰기</translation>
    </message>
    <message>
        <source>Ctrl+Shift+F</source>
        <translation>Ctrl+Shift+F</translation>
    </message>
    <message>
        <source>Search the list of models that can be ticked</source>
        <translation>선택할 수 있는 모델 목록 검색</translation>
    </message>
    <message>
        <source>Fi&amp;lter the comparison</source>
        <translation>비교 거르기(&amp;L)</translation>
    </message>
    <message>
        <source>Show only the rows in which all written words are found</source>
        <translation>입력한 낱말이 모두 있는 행만 보이기</translation>
    </message>
    <message>
        <source>&lt;h3&gt;kvcaliper %1&lt;/h3&gt;&lt;p&gt;What a language model keeps in memory while it generates text, to the byte, and a measurement that agrees.&lt;/p&gt;&lt;p&gt;This window is free software under the GNU General Public License, version 3 or later. Calculation core, kernels, command line and model files: Apache License 2.0.&lt;/p&gt;&lt;p&gt;%3&lt;/p&gt;&lt;p&gt;Built on Qt %2 (LGPL 3) and QCustomPlot 2.1 (GPL 3 or later).&lt;/p&gt;</source>
        <translation>&lt;h3&gt;kvcaliper %1&lt;/h3&gt;&lt;p&gt;언어 모델이 텍스트를 생성하는 동안 메모리에 보관하는 것을 바이트까지 계산하고, 그와 일치하는 측정으로 확인합니다.&lt;/p&gt;&lt;p&gt;이 창은 GNU 일반 공중 사용 허가서 3판 이상을 따르는 자유 소프트웨어입니다. 계산 코어, 커널, 명령줄, 모델 파일: Apache License 2.0.&lt;/p&gt;&lt;p&gt;%3&lt;/p&gt;&lt;p&gt;Qt %2 (LGPL 3)와 QCustomPlot 2.1 (GPL 3 이상)로 만들었습니다.&lt;/p&gt;</translation>
    </message>
    <message>
        <source>Import records of verification runs</source>
        <translation>검증 실행 기록 가져오기</translation>
    </message>
    <message>
        <source>Records (*.json);;All files (*)</source>
        <translation>기록 (*.json);;모든 파일 (*)</translation>
    </message>
    <message>
        <source>Not kept for the next time: %1</source>
        <translation>다음을 위해 보관하지 못함: %1</translation>
    </message>
    <message>
        <source>Not imported: %1</source>
        <translation>가져오지 못함: %1</translation>
    </message>
    <message>
        <source>Export record</source>
        <translation>기록 내보내기</translation>
    </message>
    <message>
        <source>Records (*.json)</source>
        <translation>기록 (*.json)</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::ModelEditor</name>
    <message>
        <source>&amp;Layers</source>
        <translation>레이어(&amp;L)</translation>
    </message>
    <message>
        <source>KV &amp;heads</source>
        <translation>KV 헤드(&amp;H)</translation>
    </message>
    <message>
        <source>Head &amp;width</source>
        <translation>헤드 너비(&amp;W)</translation>
    </message>
    <message>
        <source>W&amp;indow, tokens</source>
        <translation>윈도, 토큰(&amp;I)</translation>
    </message>
    <message>
        <source>Latent &amp;rank</source>
        <translation>잠재 랭크(&amp;R)</translation>
    </message>
    <message>
        <source>F&amp;ull layers: one in</source>
        <translation>전체 레이어: 몇 개마다 하나(&amp;U)</translation>
    </message>
    <message>
        <source>irregular</source>
        <translation>불규칙</translation>
    </message>
    <message>
        <source>none</source>
        <translation>없음</translation>
    </message>
    <message>
        <source>1, multi-query</source>
        <translation>1, 멀티 쿼리</translation>
    </message>
    <message>
        <source>%1, all of them</source>
        <translation>%1, 전부</translation>
    </message>
    <message>
        <source>%1, grouped</source>
        <translation>%1, 그룹</translation>
    </message>
    <message>
        <source>%1 (÷%2)</source>
        <translation>%1 (÷%2)</translation>
    </message>
    <message>
        <source>%1 (×%2)</source>
        <translation>%1 (×%2)</translation>
    </message>
    <message>
        <source>&amp;Back to the original</source>
        <translation>원래대로(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Save as config.json…</source>
        <translation>config.json으로 저장(&amp;S)…</translation>
    </message>
    <message>
        <source>%1 in the config</source>
        <translation>설정의 %1</translation>
    </message>
    <message>
        <source>was %1</source>
        <translation>이전 값 %1</translation>
    </message>
    <message>
        <source>Tick a model to edit a copy of it.</source>
        <translation>모델을 선택하면 그 사본을 편집할 수 있습니다.</translation>
    </message>
    <message>
        <source>&lt;b&gt;%1&lt;/b&gt;&lt;br&gt;A change makes a copy beside it.</source>
        <translation>&lt;b&gt;%1&lt;/b&gt;&lt;br&gt;바꾸면 옆에 사본이 생깁니다.</translation>
    </message>
    <message>
        <source>&lt;b&gt;%1&lt;/b&gt;&lt;br&gt;from %2</source>
        <translation>&lt;b&gt;%1&lt;/b&gt;&lt;br&gt;%2에서</translation>
    </message>
    <message>
        <source>Uncapped per token: %1&lt;br&gt;Growth per token: %2&lt;br&gt;Total at %3: %4</source>
        <translation>토큰당, 상한 없음: %1&lt;br&gt;토큰당 증가분: %2&lt;br&gt;%3에서의 합계: %4</translation>
    </message>
    <message>
        <source>Not possible: %1</source>
        <translation>불가능: %1</translation>
    </message>
    <message>
        <source>no model is chosen</source>
        <translation>선택한 모델이 없음</translation>
    </message>
    <message>
        <source>Save the model's config</source>
        <translation>모델의 설정 저장</translation>
    </message>
    <message>
        <source>Model configs (*.json)</source>
        <translation>모델 설정 (*.json)</translation>
    </message>
    <message>
        <source>Not saved: %1</source>
        <translation>저장하지 못함: %1</translation>
    </message>
    <message>
        <source>Saved: %1</source>
        <translation>저장함: %1</translation>
    </message>
    <message>
        <source>%1 (edited)</source>
        <translation>%1 (편집)</translation>
    </message>
    <message>
        <source>%1 (edited %2)</source>
        <translation>%1 (편집 %2)</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::ModelList</name>
    <message>
        <source>%1 — %2</source>
        <translation>%1 — %2</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::NoticeBar</name>
    <message>
        <source>Notice</source>
        <translation>알림</translation>
    </message>
    <message>
        <source>&amp;Close</source>
        <translation>닫기(&amp;C)</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::RecordHistory</name>
    <message>
        <source>Kept in the study alone.</source>
        <translation>연구에만 보관됨.</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>판정</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>컨텍스트</translation>
    </message>
    <message>
        <source>Sequences</source>
        <translation>시퀀스</translation>
    </message>
    <message>
        <source>K / V</source>
        <translation>K / V</translation>
    </message>
    <message>
        <source>Date (UTC)</source>
        <translation>날짜 (UTC)</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>장치</translation>
    </message>
    <message>
        <source>&amp;Use its settings</source>
        <translation>이 설정 사용(&amp;U)</translation>
    </message>
    <message>
        <source>Sets the study to the model, context, sequences and formats of the run</source>
        <translation>연구를 그 실행의 모델, 컨텍스트, 시퀀스, 형식으로 맞추기</translation>
    </message>
    <message>
        <source>&amp;Import…</source>
        <translation>가져오기(&amp;I)…</translation>
    </message>
    <message>
        <source>Adds records that kvcaliper verify --record wrote, on this machine or on one with a GPU</source>
        <translation>이 컴퓨터나 GPU가 있는 컴퓨터에서 kvcaliper verify --record가 쓴 기록을 더함</translation>
    </message>
    <message>
        <source>E&amp;xport…</source>
        <translation>내보내기(&amp;X)…</translation>
    </message>
    <message>
        <source>Writes the chosen record to a file</source>
        <translation>선택한 기록을 파일에 씀</translation>
    </message>
    <message>
        <source>Dele&amp;te</source>
        <translation>삭제(&amp;T)</translation>
    </message>
    <message>
        <source>Deletes the chosen record; undo brings it back</source>
        <translation>선택한 기록을 삭제함; 실행 취소로 되돌릴 수 있음</translation>
    </message>
    <message>
        <source>Runs that were kept</source>
        <translation>보관된 실행</translation>
    </message>
    <message numerus="yes">
        <source>Histor&amp;y of runs: %n</source>
        <translation>
            <numerusform>실행 이력(&amp;Y): %n</numerusform></translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::SampleModel</name>
    <message>
        <source>requested %1 B</source>
        <translation>요청 %1 B</translation>
    </message>
    <message>
        <source>%1; the device says %2 B</source>
        <translation>%1; 장치 보고 %2 B</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>토큰</translation>
    </message>
    <message>
        <source>Component</source>
        <translation>구성 요소</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>예측</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>측정</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>차이</translation>
    </message>
    <message>
        <source>Max. error (bound)</source>
        <translation>최대 오차 (한계)</translation>
    </message>
    <message>
        <source>Read, GB/s</source>
        <translation>읽기, GB/s</translation>
    </message>
    <message>
        <source>%1, used %2 B</source>
        <translation>%1, 사용 %2 B</translation>
    </message>
    <message>
        <source>✓ equal</source>
        <translation>✓ 일치</translation>
    </message>
    <message>
        <source>✗ differs</source>
        <translation>✗ 다름</translation>
    </message>
    <message>
        <source>Predicted (B)</source>
        <translation>예측 (B)</translation>
    </message>
    <message>
        <source>Measured (B)</source>
        <translation>측정 (B)</translation>
    </message>
    <message>
        <source>Difference (B)</source>
        <translation>차이 (B)</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>판정</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::ScenarioPanel</name>
    <message>
        <source>Conte&amp;xt, tokens</source>
        <translation>컨텍스트, 토큰(&amp;X)</translation>
    </message>
    <message>
        <source>Se&amp;quences</source>
        <translation>시퀀스(&amp;Q)</translation>
    </message>
    <message>
        <source>Search models</source>
        <translation>모델 검색</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>&amp;Models</source>
        <translation>모델(&amp;M)</translation>
    </message>
    <message>
        <source>K format</source>
        <translation>K 형식</translation>
    </message>
    <message>
        <source>V format</source>
        <translation>V 형식</translation>
    </message>
    <message>
        <source>&amp;K format</source>
        <translation>K 형식(&amp;K)</translation>
    </message>
    <message>
        <source>&amp;V format</source>
        <translation>V 형식(&amp;V)</translation>
    </message>
    <message>
        <source>%1 of %2 ticked; drop a config.json here</source>
        <translation>%2개 중 %1개 선택; config.json을 여기에 끌어다 놓으세요</translation>
    </message>
    <message>
        <source>&amp;Index keys</source>
        <translation>인덱스 키(&amp;I)</translation>
    </message>
    <message>
        <source>Format of index keys</source>
        <translation>인덱스 키의 형식</translation>
    </message>
    <message>
        <source>Convolutio&amp;n</source>
        <translation>합성곱(&amp;N)</translation>
    </message>
    <message>
        <source>Format of convolution history</source>
        <translation>합성곱 이력의 형식</translation>
    </message>
    <message>
        <source>&amp;States</source>
        <translation>상태(&amp;S)</translation>
    </message>
    <message>
        <source>Format of recurrent states</source>
        <translation>순환 상태의 형식</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::Study</name>
    <message>
        <source>model</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>%1 (pasted)</source>
        <translation>%1 (붙여넣음)</translation>
    </message>
    <message>
        <source>%1 (pasted %2)</source>
        <translation>%1 (붙여넣음 %2)</translation>
    </message>
    <message>
        <source>Choose models</source>
        <translation>모델 선택</translation>
    </message>
    <message>
        <source>Add %1</source>
        <translation>%1 더하기</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>%1 빼기</translation>
    </message>
    <message>
        <source>Choose baseline</source>
        <translation>기준 선택</translation>
    </message>
    <message>
        <source>Change context</source>
        <translation>컨텍스트 변경</translation>
    </message>
    <message>
        <source>Change sequences</source>
        <translation>시퀀스 변경</translation>
    </message>
    <message>
        <source>Change the budget</source>
        <translation>예산 변경</translation>
    </message>
    <message>
        <source>Choose device</source>
        <translation>장치 선택</translation>
    </message>
    <message>
        <source>Choose engine</source>
        <translation>엔진 선택</translation>
    </message>
    <message>
        <source>Change tensor ranks</source>
        <translation>텐서 랭크 변경</translation>
    </message>
    <message>
        <source>Set weights of %1</source>
        <translation>%1의 가중치 설정</translation>
    </message>
    <message>
        <source>Edit %1</source>
        <translation>%1 편집</translation>
    </message>
    <message>
        <source>Change format of %1</source>
        <translation>%1의 형식 변경</translation>
    </message>
    <message>
        <source>Change ranks</source>
        <translation>랭크 변경</translation>
    </message>
    <message>
        <source>Reset %1</source>
        <translation>%1 되돌리기</translation>
    </message>
    <message>
        <source>Set %1</source>
        <translation>%1 설정</translation>
    </message>
    <message>
        <source>Change the context chart</source>
        <translation>컨텍스트 차트 변경</translation>
    </message>
    <message>
        <source>Delete record of %1</source>
        <translation>%1의 기록 삭제</translation>
    </message>
    <message>
        <source>The record is about %1, which is neither in this study nor bundled.</source>
        <translation>이 기록의 모델 %1은(는) 이 연구에도 내장 모델에도 없습니다.</translation>
    </message>
    <message>
        <source>Use the settings of a record</source>
        <translation>기록의 설정 사용</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::StudySession</name>
    <message>
        <source>Untitled study</source>
        <translation>제목 없는 연구</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::VerifyPage</name>
    <message>
        <source>&amp;Run verification</source>
        <translation>검증 실행(&amp;R)</translation>
    </message>
    <message>
        <source>Ca&amp;ncel</source>
        <translation>취소(&amp;N)</translation>
    </message>
    <message>
        <source>Model to verify</source>
        <translation>검증할 모델</translation>
    </message>
    <message>
        <source>Progress of the verification</source>
        <translation>검증 진행</translation>
    </message>
    <message>
        <source>Measured components</source>
        <translation>측정한 구성 요소</translation>
    </message>
    <message>
        <source>Mo&amp;del</source>
        <translation>모델(&amp;D)</translation>
    </message>
    <message>
        <source>Measuring on %1 …</source>
        <translation>%1에서 측정 중 …</translation>
    </message>
    <message>
        <source>needs %1, limit %2</source>
        <translation>필요 %1, 한도 %2</translation>
    </message>
    <message>
        <source>No result: %1</source>
        <translation>결과 없음: %1</translation>
    </message>
    <message>
        <source>Allocates what the model keeps, runs decode steps through our own kernels and compares what was used with what was predicted.</source>
        <translation>모델이 보관하는 만큼 할당하고, 자체 커널로 디코드 단계를 실행하여 사용량을 예측과 비교합니다.</translation>
    </message>
    <message>
        <source>Starting …</source>
        <translation>시작하는 중 …</translation>
    </message>
    <message>
        <source>Refused by %1:</source>
        <translation>%1이(가) 거부함:</translation>
    </message>
    <message>
        <source>Cancelled.</source>
        <translation>취소했습니다.</translation>
    </message>
    <message>
        <source>The verifier's verdict: %1, on %2.</source>
        <translation>검증 프로그램의 판정: %1, %2에서.</translation>
    </message>
    <message>
        <source>Not started: %1</source>
        <translation>시작하지 못함: %1</translation>
    </message>
    <message>
        <source>It ran under other settings than the study's: its points are not drawn.</source>
        <translation>연구와 다른 설정으로 실행되어 점을 그리지 않습니다.</translation>
    </message>
    <message>
        <source>The record of this run could not be written: %1</source>
        <translation>이 실행의 기록을 쓰지 못함: %1</translation>
    </message>
    <message>
        <source>No record was kept: %1.</source>
        <translation>기록을 보관하지 못함: %1.</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::VerifyRun</name>
    <message>
        <source>The verifier is not installed. Looked at KVCALIPER_VERIFY (%1) and %2.</source>
        <translation>검증 프로그램이 설치되어 있지 않습니다. KVCALIPER_VERIFY (%1)와 %2을(를) 찾아보았습니다.</translation>
    </message>
    <message>
        <source>not set</source>
        <translation>설정 안 됨</translation>
    </message>
    <message>
        <source>%1 could not be started: %2</source>
        <translation>%1을(를) 시작하지 못함: %2</translation>
    </message>
    <message>
        <source>The verifier said something unexpected: %1</source>
        <translation>검증 프로그램이 예상 밖의 말을 함: %1</translation>
    </message>
    <message>
        <source>The verifier ended without a result (%1)%2</source>
        <translation>검증 프로그램이 결과 없이 끝남 (%1)%2</translation>
    </message>
    <message>
        <source>it died</source>
        <translation>비정상 종료</translation>
    </message>
    <message>
        <source>exit code %1</source>
        <translation>종료 코드 %1</translation>
    </message>
</context>
</TS>
